// data-shows: a slider that only fills in the field beside it, which is sent later.
"use strict";
document.addEventListener("input", (event) => {
  const shown = event.target.matches("[data-shows]") && document.getElementById(event.target.dataset.shows);
  if (shown) shown.value = event.target.value;
});
