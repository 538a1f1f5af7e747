// Package failpoint names the instants at which a process may be killed: before
// and after each step that lasts. Built without the tag "failpoints" a point is
// nothing at all, no call and no string. Built with it, a process kills itself at
// the point that its environment names, and writes down which points it passes;
// scripts/crash does that, and finds each point by its call in the source, so
// that the name of a point is a literal and stands at one place.
package failpoint

// Variable names the point at which the process kills itself with SIGKILL, and
// which time it comes there: "name:n", the first time being 1.
const Variable = "UMBRA_FAILPOINT"

// LogVariable names a file to which the name of each point that is passed is
// appended, a line each.
const LogVariable = "UMBRA_FAILPOINT_LOG"

// HoldVariable names a directory. A process that comes to a point of which there is a FIFO
// with its name waits there until the FIFO was opened for writing and closed again: the
// end-to-end tests kill another process meanwhile.
const HoldVariable = "UMBRA_FAILPOINT_HOLD"
