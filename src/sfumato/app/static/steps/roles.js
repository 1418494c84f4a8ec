// data-choose-all: ticks every box of a form, or none.
"use strict";
document.addEventListener("change", (event) => {
  const form = event.target.dataset && event.target.dataset.chooseAll;
  if (!form) return;
  for (const box of document.querySelectorAll(`input[type=checkbox][name=column][form="${CSS.escape(form)}"]`)) box.checked = event.target.checked;
});
