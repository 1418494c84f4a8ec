(function () {
  "use strict";
  var told = document.createElement("div");
  told.className = "told";
  told.setAttribute("role", "status");
  told.hidden = true;
  document.body.appendChild(told);
  function hide() { told.hidden = true; }
  function reveal(mark) {
    var at = mark.getBoundingClientRect();
    told.textContent = mark.getAttribute("aria-label");
    told.style.left = Math.max(8, at.left + window.scrollX) + "px";
    told.style.top = at.bottom + window.scrollY + 8 + "px";
    told.hidden = false;
  }
  function open() {
    var found = location.hash && document.getElementById(location.hash.slice(1));
    if (!found || found.tagName !== "DETAILS") { return; }
    found.open = true;
    found.querySelector("summary").focus();
  }
  document.querySelectorAll("svg a").forEach(function (mark) {
    var title = mark.querySelector("title");
    if (title) { title.remove(); }
    mark.addEventListener("mouseenter", function () { reveal(mark); });
    mark.addEventListener("focus", function () { reveal(mark); });
    mark.addEventListener("mouseleave", hide);
    mark.addEventListener("blur", hide);
    mark.addEventListener("click", function () { hide(); window.setTimeout(open, 0); });
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") { hide(); }
  });
  document.querySelectorAll("details pre").forEach(function (policy) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy the policy";
    button.addEventListener("click", function () {
      var range = document.createRange();
      range.selectNodeContents(policy);
      window.getSelection().removeAllRanges();
      window.getSelection().addRange(range);
      function say(done) { button.textContent = done ? "Copied" : "Press Ctrl+C to copy"; }
      if (!navigator.clipboard) { say(document.execCommand("copy")); return; }
      navigator.clipboard.writeText(policy.textContent).then(
        function () { say(true); }, function () { say(false); });
    });
    policy.parentNode.insertBefore(button, policy);
  });
  window.addEventListener("hashchange", open);
  open();
}());
