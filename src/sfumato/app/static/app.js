// Everything here only makes pages quicker to use: forms and links work by themselves.
// Wired by data- attributes, on the document, so that swapped parts need no set-up.
"use strict";

// data-submit: a control that sends its form as soon as it is changed.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});

// data-live: a slider or field that sends its form while it is moved, at most every 120 ms.
let waiting = 0;
document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-live]")) return;
  const shown = document.getElementById(event.target.dataset.live);
  if (shown) shown.value = event.target.value;
  clearTimeout(waiting);
  const form = event.target.form;
  form.dataset.held = "";
  waiting = setTimeout(() => form.requestSubmit(), 120);
});

// An answer to an earlier position must not move a slider that is further on: its form stays as it
// is from a movement on until that is sent.
Idiomorph.defaults.callbacks.beforeNodeMorphed = (old, fresh) => !(old.dataset && "held" in old.dataset) && !keepPart(old, fresh);
document.addEventListener("htmx:configRequest", (event) => { delete event.detail.elt.dataset.held; });

// What was folded or unfolded stays so when the page changes around it.
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element) => !(name === "open" && element.matches("details"));

// A part that was fetched stays, and is fetched anew: the page that comes has its empty place, which
// nothing would fill, because only a new address is fetched by itself.
function keepPart(old, fresh) {
  if (!old.matches || !old.matches("[hx-get][hx-swap=innerHTML]:not(form)") || !old.firstElementChild) return false;
  const address = old.getAttribute("hx-get");
  if (!fresh.getAttribute || fresh.getAttribute("hx-get") !== address) return false;
  if (!old.matches(".htmx-request")) setTimeout(() => htmx.ajax("GET", address, { source: old, target: old, swap: "innerHTML" }));
  return true;
}

// data-key: a button or link that a key combination presses, as ctrl+z or alt+3.
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input:not([type=radio]):not([type=checkbox]):not([type=range]), textarea, select");
  const name = `${event.ctrlKey || event.metaKey ? "ctrl+" : ""}${event.altKey ? "alt+" : ""}${event.key.toLowerCase()}`;
  if (!typing || event.altKey) {
    const found = document.querySelector(`[data-key="${CSS.escape(name)}"]:not([disabled])`);
    if (found && name.includes("+")) { event.preventDefault(); found.click(); return; }
  }
  if (!typing && !event.ctrlKey && !event.altKey && !event.metaKey) pressRole(event);
});

// data-role-key: in the card of a column, the letter of a role chooses it; up and down go on.
function pressRole(event) {
  const card = event.target.closest(".column");
  if (!card) return;
  const role = card.querySelector(`[data-role-key="${CSS.escape(event.key)}"]`);
  if (role) { event.preventDefault(); role.focus(); role.click(); return; }
  const step = { j: 1, k: -1, PageDown: 1, PageUp: -1 }[event.key];
  if (!step) return;
  const cards = [...card.parentElement.children];
  const next = cards[cards.indexOf(card) + step];
  if (next) { event.preventDefault(); next.querySelector("input:checked, input[type=radio]").focus(); }
}

// data-drop: a place that takes a file and streams it to the address it names.
function send(place, file) {
  const status = place.querySelector("[data-drop-status]");
  const request = new XMLHttpRequest();
  request.open("POST", `${place.dataset.drop}?name=${encodeURIComponent(file.name)}`);
  request.upload.onprogress = (sent) => { status.textContent = `${file.name}: ${Math.round(100 * sent.loaded / sent.total)} %`; };
  request.onload = () => {
    if (request.status === 201) location.assign(request.responseText);
    else status.textContent = request.responseText;
  };
  request.onerror = () => { status.textContent = `${file.name}: –`; };
  request.send(file);
}
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-file]") && event.target.files.length)
    send(event.target.closest("[data-drop]"), event.target.files[0]);
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    const place = event.target.closest && event.target.closest("[data-drop]");
    if (!place || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    place.classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) send(place, event.dataTransfer.files[0]);
  });
}

// data-arrive: a result that has come since is brought into sight, if it is out of it.
const arrived = new Map();
function bringIntoSight(quietly) {
  for (const found of document.querySelectorAll("[data-arrive]")) {
    const news = arrived.get(found.id) !== found.dataset.arrive;
    arrived.set(found.id, found.dataset.arrive);
    const top = found.getBoundingClientRect().top;
    if (news && !quietly && (top < 60 || top > window.innerHeight * 0.7)) found.scrollIntoView({ block: "start" });
  }
}

// After another step was opened, a reader begins at its top.
document.addEventListener("htmx:afterSettle", (event) => {
  const page = document.getElementById("page");
  if (event.detail.elt !== page && event.target !== page) return;
  document.title = `${document.querySelector("h1").textContent} · Sfumato`;
  const same = page.dataset.step === document.body.dataset.at;
  bringIntoSight(!same);
  if (same) return;
  document.body.dataset.at = page.dataset.step;
  window.scrollTo(0, 0);
  document.getElementById("main").focus({ preventScroll: true });
});
document.addEventListener("DOMContentLoaded", () => {
  document.body.dataset.at = document.getElementById("page").dataset.step;
  bringIntoSight(true);
});
