"use strict";
// Before all else: whatever goes wrong on this page is noted here, for the self-check.

const pageErrors = [];

window.addEventListener("error", (event) => {
  const target = event.target;
  if (target && target !== window) {
    pageErrors.push(`<${target.localName}> could not be loaded`);
  } else {
    pageErrors.push(`${event.message} (line ${event.lineno})`);
  }
}, true);

window.addEventListener("unhandledrejection", (event) => {
  pageErrors.push(`unhandled rejection: ${event.reason}`);
});

document.addEventListener("securitypolicyviolation", (event) => {
  pageErrors.push(`${event.violatedDirective} forbids ${event.blockedURI}`);
});
