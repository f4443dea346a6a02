"use strict";
// Values under the pointer or the finger: browsers show an SVG title late, and phones not at all.
const tip = document.getElementById("tip");
let lit = null;
function hide() {
  if (lit) lit.classList.remove("on");
  lit = null;
  tip.hidden = true;
}
function show(event) {
  const spot = event.target.closest(".points circle");
  if (!spot) { hide(); return; }
  if (lit) lit.classList.remove("on");
  lit = spot;
  lit.classList.add("on");
  tip.textContent = spot.firstElementChild.textContent;
  tip.hidden = false;
  const box = spot.getBoundingClientRect();
  const left = Math.min(box.right + 8, window.innerWidth - tip.offsetWidth - 8);
  tip.style.left = Math.max(8, left) + "px";
  tip.style.top = Math.max(8, box.top - tip.offsetHeight - 6) + "px";
}
document.addEventListener("pointerover", show);
document.addEventListener("click", show);
document.addEventListener("scroll", hide, { passive: true });
