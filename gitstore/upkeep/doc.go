// Package upkeep looks after a shadow repository: it checks what the invariants say, finds
// and sets aside what is damaged, draws the boundaries of histories that have lost a
// commit, repacks, sweeps what killed processes left, and weighs what objects take. It
// deletes no object: only a second copy of one.
package upkeep
