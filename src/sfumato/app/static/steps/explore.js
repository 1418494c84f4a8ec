// A mark of the plane presses its link in the table; a cell of the map looks at its node.
"use strict";
document.addEventListener("click", (event) => {
  if (!event.target.closest) return;
  const mark = event.target.closest(".scatter a");
  if (mark) {
    const link = document.getElementById(mark.getAttribute("href").slice(1));
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  const cell = event.target.closest(".map [data-node]");
  const form = cell && document.querySelector("[data-node-form]");
  if (!form) return;
  const levels = cell.dataset.node.split(",");
  form.querySelectorAll("select").forEach((each, i) => { each.value = levels[i]; });
  form.requestSubmit();
});

// What is looked at is marked in both drawings.
function markLooked() {
  const form = document.querySelector("[data-node-form]");
  const node = form && [...form.querySelectorAll("select")].map((each) => each.value).join(",");
  document.querySelectorAll(".map .looked").forEach((each) => each.classList.remove("looked"));
  const cell = node && document.querySelector(`.map [data-node="${CSS.escape(node)}"]`);
  if (cell) cell.classList.add("looked");
  const link = document.querySelector(".tried [aria-current]");
  document.querySelectorAll(".scatter .looked").forEach((each) => each.classList.remove("looked"));
  const mark = link && document.querySelector(`.scatter a[href="#${CSS.escape(link.id)}"]`);
  if (mark) mark.classList.add("looked");
}
document.addEventListener("htmx:afterSettle", markLooked);
document.addEventListener("DOMContentLoaded", markLooked);
