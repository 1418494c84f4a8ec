// Decouple: a column that is dropped on another table presses the button that moves it there.
"use strict";

(() => {
  let dragged = null, moved = null;

  function over(event) {
    return dragged && event.target.closest && event.target.closest("[data-board]");
  }

  function end() {
    document.querySelectorAll(".board.over, .chip.dragged").forEach((each) => each.classList.remove("over", "dragged"));
    dragged = null;
  }

  document.addEventListener("dragstart", (event) => {
    dragged = event.target.closest && event.target.closest("[data-chip]");
    if (!dragged) return;
    dragged.classList.add("dragged");
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.querySelector("summary").dataset.chipName);
  });
  document.addEventListener("dragover", (event) => {
    const board = over(event);
    if (board) { event.preventDefault(); board.classList.add("over"); }
  });
  document.addEventListener("dragleave", (event) => {
    const board = over(event);
    if (board && !board.contains(event.relatedTarget)) board.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    const board = over(event);
    if (!board) return;
    event.preventDefault();
    const button = dragged.querySelector(`button[value="${CSS.escape(board.dataset.board)}"]`);
    end();
    if (button) button.click();
  });
  document.addEventListener("dragend", end);

  // Who moves a column by keyboard stays with it.
  document.addEventListener("submit", (event) => {
    const chip = event.target.closest("[data-chip]");
    moved = chip && chip.querySelector("summary").dataset.chipName;
  }, true);
  document.addEventListener("htmx:afterSettle", (event) => {
    // Figures that come in between are not the page that it has moved on.
    if (!moved || event.target.id !== "page") return;
    const summary = document.querySelector(`[data-chip-name="${CSS.escape(moved)}"]`);
    moved = null;
    document.querySelectorAll(".chip[open]").forEach((each) => { each.open = false; });
    if (summary) summary.focus();
  });
})();
