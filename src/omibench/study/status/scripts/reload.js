// Reloads the page while its box is checked; the choice outlasts the reload.
"use strict";
(() => {
  const box = document.getElementById("reload");
  const isPaused = () => location.hash === "#paused";
  let timer = 0;
  const wait = () => {
    clearTimeout(timer);
    box.checked = !isPaused();
    if (box.checked) timer = setTimeout(() => location.reload(), 1000 * Number(box.dataset.seconds));
  };
  box.addEventListener("change", () => {
    history.replaceState(null, "", box.checked ? "#" : "#paused");
    wait();
  });
  wait();
})();
