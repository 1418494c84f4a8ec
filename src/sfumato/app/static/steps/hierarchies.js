// Hierarchies: chips dragged between groups, cut points dragged on a line; the same with keys.
// Everything ends in a form of the page, so that it also works without this file.
"use strict";
(() => {
  const near = (element, selector) => (element && element.closest ? element.closest(selector) : null);
  const board = () => document.getElementById("board");

  // How many chips and groups are ticked.
  function count() {
    const shown = document.getElementById("chosen");
    if (!shown) return;
    shown.textContent = `${document.querySelectorAll("[data-board] input[form=board]:checked").length} ${shown.dataset.count}`;
  }
  document.addEventListener("change", (event) => { if (near(event.target, "[data-board]")) count(); });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id !== "page" || !document.querySelector("[data-board]")) return;
    // What was ticked was for the edit that is done now.
    for (const box of document.querySelectorAll("[data-board] input[form=board]:checked")) box.checked = false;
    const name = document.getElementById("new-name");
    if (name && document.activeElement !== name) name.value = "";
    count();
  });

  function tick(name, labels) {
    for (const box of document.querySelectorAll("[data-board] input[form=board]"))
      box.checked = box.name === name && labels.includes(box.value);
  }
  // A click, so that what was pressed is sent along.
  function press(what) { board().querySelector(`[value="${what}"]`).click(); }

  // Dragging: a chip with all that are ticked, or a whole group by its head.
  let carried = null;
  document.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || near(event.target, "input:not([type=checkbox]), button, a, summary, .rename form")) return;
    const chip = near(event.target, "[data-carry]"), head = near(event.target, "[data-carry-group]");
    const from = chip || head;
    if (from) carried = { from, chip, x: event.clientX, y: event.clientY, ghost: null, into: null };
  });
  function lift() {
    const { from, chip } = carried;
    carried.labels = [chip ? from.dataset.carry : from.dataset.carryGroup];
    if (chip && from.querySelector("input").checked)
      carried.labels = [...document.querySelectorAll("[data-carry] input:checked")].map((box) => box.value);
    const ghost = document.createElement("div");
    ghost.className = "ghost";
    ghost.textContent = carried.labels.length > 1 ? `${carried.labels.length} × ${carried.labels[0]} …` : carried.labels[0];
    document.body.append(ghost);
    carried.ghost = ghost;
    (chip || from.closest(".box")).classList.add("carried");
  }
  function target(x, y) {
    const under = document.elementFromPoint(x, y);
    const place = near(under, "[data-into], [data-into-new], [data-into-alone]");
    if (!place) return null;
    const onto = "intoAlone" in place.dataset ? near(under, "[data-carry]") : null;
    return onto && onto !== carried.from ? onto : place;
  }
  document.addEventListener("pointermove", (event) => {
    if (!carried) return;
    if (!carried.ghost && Math.hypot(event.clientX - carried.x, event.clientY - carried.y) < 6) return;
    if (!carried.ghost) lift();
    carried.ghost.style.left = `${event.clientX + 12}px`;
    carried.ghost.style.top = `${event.clientY + 8}px`;
    if (event.clientY < 90) window.scrollBy(0, -14);
    if (event.clientY > window.innerHeight - 60) window.scrollBy(0, 14);
    const into = target(event.clientX, event.clientY);
    if (into === carried.into) return;
    if (carried.into) carried.into.classList.remove("over");
    if (into) into.classList.add("over");
    carried.into = into;
  });
  function letGo() {
    if (!carried) return;
    for (const each of document.querySelectorAll(".carried, .over")) each.classList.remove("carried", "over");
    if (carried.ghost) carried.ghost.remove();
    carried = null;
  }
  document.addEventListener("pointerup", () => {
    if (!carried || !carried.ghost) { carried = null; return; }
    const { chip, labels, into } = carried;
    letGo();
    // The click that follows would tick the box of the chip.
    const swallow = (click) => { click.preventDefault(); click.stopPropagation(); };
    window.addEventListener("click", swallow, true);
    setTimeout(() => {
      window.removeEventListener("click", swallow, true);
      if (into) drop(chip, labels, into.dataset);
    }, 0);
  });
  function drop(chip, labels, into) {
    document.getElementById("new-name").value = "";
    if (!chip) {
      if (!("into" in into) || into.into === labels[0]) return;
      tick("group", [into.into, ...labels]);
      document.getElementById("new-name").value = into.into;
      press("merge");
    } else if ("into" in into) {
      tick("part", labels);
      document.getElementById("to").value = into.into;
      press("move");
    } else if ("carry" in into) {
      tick("part", [into.carry, ...labels]);
      press("group");
    } else if ("intoNew" in into) {
      tick("part", labels);
      count();
      document.getElementById("new-name").focus();
    } else {
      tick("part", labels);
      press("alone");
    }
  }
  document.addEventListener("pointercancel", letGo);

  // Keys: arrows go from box to box, M moves, N makes a new group, Escape lets go.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") letGo();
    const box = near(event.target, "[data-board] input[type=checkbox]");
    if (!box || event.ctrlKey || event.altKey || event.metaKey) return;
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const goal = { m: "to", n: "new-name" }[event.key.toLowerCase()];
    if (way) {
      const all = [...document.querySelectorAll("[data-board] input[type=checkbox]")];
      const next = all[all.indexOf(box) + way];
      if (next) next.focus();
    } else if (goal) document.getElementById(goal).focus();
    else return;
    event.preventDefault();
  });
  // Enter in the list of groups moves; in the name it makes the group.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const what = { to: "move", "new-name": "group" }[event.target.id];
    if (!what || event.target.form !== board()) return;
    event.preventDefault();
    press(what);
  });

  // Cut points: sliders on a line.
  const ruler = (element) => near(element, "[data-ruler]").dataset;
  const written = (place, days) => (days ? new Date((place - 719163) * 864e5).toISOString().slice(0, 10) : String(place));
  function put(handle, place) {
    const { low, high, step, days } = ruler(handle);
    const digits = (step.split(".")[1] || "").length;
    let at = Number((Math.round(place / step) * step).toFixed(digits));
    at = Math.min(Math.max(at, Number(handle.getAttribute("aria-valuemin"))), Number(handle.getAttribute("aria-valuemax")));
    const share = Math.min(Math.max((100 * (at - low)) / (high - low), 0), 100);
    handle.parentNode.setAttribute("x", `${share}%`);
    handle.setAttribute("aria-valuenow", at);
    handle.setAttribute("aria-valuetext", written(at, days !== undefined));
    handle.querySelector("text").textContent = written(at, days !== undefined);
  }
  let sending = 0;
  function send(handle, what) {
    clearTimeout(sending);
    sending = 0;
    const form = document.getElementById("cut-form");
    form.elements.cut.value = handle.dataset.cut;
    form.elements.to.value = handle.getAttribute("aria-valuenow");
    if (what === "move" && form.elements.to.value === form.elements.cut.value) return;
    form.querySelector(`[value="${what}"]`).click();
  }
  function fit() {
    for (const handle of document.querySelectorAll(".handle")) {
      const text = handle.querySelector("text"), flag = handle.querySelector(".flag");
      const wide = Math.max(30, 8 * text.textContent.length + 12);
      flag.setAttribute("x", -wide / 2);
      flag.setAttribute("width", wide);
    }
  }
  document.addEventListener("DOMContentLoaded", fit);
  document.addEventListener("htmx:afterSettle", fit);
  function placeAt(line, x) {
    const { low, high } = ruler(line), box = line.getBoundingClientRect();
    return Number(low) + ((x - box.left) / box.width) * (high - low);
  }
  let moved = null;
  document.addEventListener("pointerdown", (event) => {
    const handle = near(event.target, ".handle");
    if (!handle || event.button !== 0) return;
    moved = handle;
    handle.classList.add("moving");
    handle.focus();
    event.preventDefault();
  });
  document.addEventListener("pointermove", (event) => {
    if (moved) put(moved, placeAt(near(moved, "[data-line]"), event.clientX));
  });
  document.addEventListener("pointerup", () => {
    if (!moved) return;
    const handle = moved;
    moved = null;
    handle.classList.remove("moving");
    send(handle, "move");
  });
  document.addEventListener("keydown", (event) => {
    const handle = near(event.target, ".handle");
    if (!handle) return;
    const now = Number(handle.getAttribute("aria-valuenow")), step = Number(ruler(handle).step);
    const least = Number(handle.getAttribute("aria-valuemin")), most = Number(handle.getAttribute("aria-valuemax"));
    const to = { ArrowRight: now + step, ArrowUp: now + step, ArrowLeft: now - step, ArrowDown: now - step,
      PageUp: now + 10 * step, PageDown: now - 10 * step, Home: least, End: most }[event.key];
    if (event.key === "Delete" || event.key === "Backspace") send(handle, "remove");
    else if (event.key === "Enter") send(handle, "move");
    else if (to !== undefined) {
      put(handle, to);
      clearTimeout(sending);
      sending = setTimeout(() => send(handle, "move"), 450);
    } else return;
    event.preventDefault();
  });
  document.addEventListener("focusout", (event) => {
    const handle = near(event.target, ".handle");
    if (handle && sending) send(handle, "move");
  });
  document.addEventListener("dblclick", (event) => {
    const line = near(event.target, "[data-line]");
    if (!line || near(event.target, ".handle")) return;
    const { step, days } = ruler(line), form = document.getElementById("cut-form");
    const digits = (step.split(".")[1] || "").length;
    const at = Number((Math.round(placeAt(line, event.clientX) / step) * step).toFixed(digits));
    form.elements.at.value = written(at, days !== undefined);
    form.querySelector('[value="add"]').click();
  });

  // A file is read here and sent as text: UTF-8, or what western Europe wrote before.
  document.addEventListener("change", async (event) => {
    if (!event.target.matches("[data-read]") || !event.target.files.length) return;
    const file = event.target.files[0], bytes = await file.arrayBuffer();
    let text = new TextDecoder().decode(bytes);
    if (text.includes("\ufffd")) text = new TextDecoder("windows-1252").decode(bytes);
    const form = event.target.form;
    form.elements.origin.value = file.name;
    document.getElementById(event.target.dataset.read).value = text;
    event.target.value = "";
    form.requestSubmit();
  });

  // Alt with an arrow key moves a line of an order.
  document.addEventListener("keydown", (event) => {
    const area = near(event.target, "[data-order]"), way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!area || !event.altKey || !way) return;
    event.preventDefault();
    const lines = area.value.split("\n"), at = area.value.slice(0, area.selectionStart).split("\n").length - 1;
    if (at + way < 0 || at + way >= lines.length) return;
    [lines[at], lines[at + way]] = [lines[at + way], lines[at]];
    area.value = lines.join("\n");
    const start = lines.slice(0, at + way).join("\n").length + (at + way > 0);
    area.setSelectionRange(start, start);
  });
})();
