// Everything here only makes pages quicker to use: forms and links work by themselves.
// Wired by data- attributes, on the document, so that swapped parts need no set-up.
"use strict";

// data-submit: a control that sends its form as soon as it is changed.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});

// Enter changes a field and sends its form: that is one wish, not two. The second would be sent with
// what the page has by then, and take the answer to the first away.
let lastSent = { form: null, at: 0 };
document.addEventListener("submit", (event) => {
  const pressed = event.submitter && !event.submitter.closest("noscript");
  const twice = event.target === lastSent.form && event.timeStamp - lastSent.at < 50 && !pressed;
  lastSent = { form: event.target, at: event.timeStamp };
  if (twice) { event.preventDefault(); event.stopImmediatePropagation(); }
}, true);

// data-live: a slider or field that sends its form while it is moved, at most every 120 ms.
let waiting = 0, moved = null;
document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-live]")) return;
  const shown = document.getElementById(event.target.dataset.live);
  if (shown) shown.value = event.target.value;
  clearTimeout(waiting);
  if (moved !== event.target.form) sendMoved();
  moved = event.target.form;
  moved.dataset.held = "";
  waiting = setTimeout(sendMoved, 120);
});
function sendMoved() {
  clearTimeout(waiting);
  const form = moved;
  moved = null;
  if (form && form.isConnected) form.requestSubmit();
}

// An answer to an earlier position must not move a slider that is further on: its form stays as it
// is from a movement on until that is sent.
Idiomorph.defaults.callbacks.beforeNodeMorphed = (old, fresh) => !(old.dataset && "held" in old.dataset) && !keepPart(old, fresh);
document.addEventListener("htmx:configRequest", (event) => { delete event.detail.elt.dataset.held; });

// What was folded or unfolded stays so when the page changes around it.
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element) => !(name === "open" && element.matches("details"));

// Work that is over: the page is fetched anew where it stands, so that nothing is closed or left. If
// another page was asked for already, that one will do.
const underWay = () => newest && newest.readyState > 0 && newest.readyState < 4;
function fetchAnew() {
  const where = { target: "#page", select: "#page", swap: "morph:outerHTML", push: "false" };
  if (!underWay()) htmx.ajax("GET", location.pathname + location.search, where);
}
document.addEventListener("workOver", fetchAnew);

// The newest wish decides which page is shown: an answer to an older one, which took longer, does not
// take its place. What the older one has changed is fetched then.
let newest = null, missed = false;
function catchUp() {
  if (!missed || underWay()) return;
  missed = false;
  fetchAnew();
}
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target.id !== "page") return;
  // Whoever goes on at once after a movement does not lose it.
  if (event.detail.elt !== moved) sendMoved();
  newest = event.detail.xhr;
});
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id !== "page" || event.detail.xhr === newest) return;
  event.detail.shouldSwap = false;
  missed = missed || event.detail.requestConfig.verb !== "get";
  catchUp();
});
document.addEventListener("htmx:afterSettle", catchUp);

// A change may take away what has the focus. Then it goes to the same control, to the work that was
// begun and back to what began it, to what stands nearest, or else to the top: never nowhere.
const USABLE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";
const usable = (each) => each && each.isConnected && each !== document.body && !each.matches(":disabled") && each.checkVisibility();
const inSight = (each) => { const box = each.getBoundingClientRect(); return box.bottom > 60 && box.top < innerHeight - 60; };
let around = [], was = "", began = "", wasInSight = false;
document.addEventListener("htmx:beforeSwap", () => {
  around = [];
  was = document.activeElement.id;
  wasInSight = inSight(document.activeElement);
  for (let each = document.activeElement; each && each !== document.body; each = each.parentElement) around.push(each);
});
document.addEventListener("htmx:afterSwap", () => {
  const lost = around[0], main = document.getElementById("main");
  if (!lost) return;
  // Work that ended may have become work that was not asked for, in its place.
  const other = document.activeElement.matches(".job") && document.activeElement.id !== was;
  if (usable(document.activeElement) && !other) {
    // What became longer above it must not push it out of sight.
    if (wasInSight && !inSight(document.activeElement)) document.activeElement.scrollIntoView({ block: "nearest" });
    return;
  }
  const job = document.querySelector(".job"), wasWork = lost.matches(".job, .job *");
  if (job && !wasWork) began = was;
  const near = around.slice(1).filter((each) => each.isConnected && !each.contains(main))
    .map((each) => [...each.querySelectorAll(USABLE)].find(usable));
  const places = [document.getElementById(was), wasWork && document.getElementById(began), job, ...near];
  (places.find(usable) || main).focus();
});
// The same where a page is loaded once more, as for another language.
window.addEventListener("pagehide", () => sessionStorage.setItem("at", `${location.pathname} ${document.activeElement.id}`));
document.addEventListener("DOMContentLoaded", () => {
  const [path, id] = (sessionStorage.getItem("at") || "").split(" ");
  const found = path === location.pathname && id && document.getElementById(id);
  if (usable(found)) found.focus({ preventScroll: true });
});

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
  const name = `${event.ctrlKey || event.metaKey ? "ctrl+" : ""}${event.altKey ? "alt+" : ""}${keyOf(event)}`;
  if (!typing || event.altKey) {
    const found = document.querySelector(`[data-key="${CSS.escape(name)}"]:not([disabled])`);
    if (found && name.includes("+")) { event.preventDefault(); found.click(); return; }
  }
  if (!typing && !event.ctrlKey && !event.altKey && !event.metaKey) pressRole(event);
});

// With Alt some keyboards write another sign for a figure.
function keyOf(event) {
  return event.altKey && event.code.startsWith("Digit") ? event.code.slice(5) : event.key.toLowerCase();
}

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
    if (!news || quietly) continue;
    if (top < 60 || top > window.innerHeight * 0.7) found.scrollIntoView({ block: "start" });
    // Whoever works with keys reads on there, unless they see the control that asked for it.
    if (inSight(document.activeElement)) continue;
    found.tabIndex = -1;
    found.focus({ preventScroll: true });
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
