package home

// HooksFile is where a home remembers which hooks of agents were installed: another
// program that writes an agent's settings anew takes them out, and nothing else tells.
const HooksFile = "hooks.json"
