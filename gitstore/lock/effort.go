package lock

import "time"

// Effort is what a process, and those that it has started, have done so far.
type Effort struct {
	Time   time.Duration // of processors, since each began
	Active bool          // one of them runs now, or waits for a disk
	// Spoke is when its terminal was last written to, as far as the system tells:
	// up to eight seconds too early on Linux. Zero if it has none.
	Spoke time.Time
}

// mostProcesses bounds how many processes EffortOf looks at.
const mostProcesses = 256
