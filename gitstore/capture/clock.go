package capture

import (
	"time"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

const (
	// clockSlack is taken off the coarse clock, which is the one that stamps
	// files on local file systems: it covers the jitter of a tick.
	clockSlack = 20 * time.Millisecond
	// coarseSlack is for file systems that keep whole or even seconds, or stamp
	// by the clock of another machine.
	coarseSlack = 2 * time.Second
)

// stamp is an instant, such as when reads begin, on the clock of a file system.
type stamp struct {
	now    int64 // nanoseconds, the coarse clock
	coarse bool  // a file system with a coarse or a foreign clock
}

// trusts tells whether stat data read after s would show any later write: only
// then may equal stat data mean equal content (the racy rule).
func (s stamp) trusts(st *fingerprint) bool {
	return max(st.mtime, st.ctime) < s.now-int64(s.slack(st, clockSlack))
}

// follows tells whether a file was written to before s. It is exact but for the tick that
// s is in: an agent writes a file and calls the hook within clockSlack. The time of the
// last change alone counts, since nobody can set it to the future.
func (s stamp) follows(st *fingerprint) bool { return st.ctime < s.now-int64(s.slack(st, 0)) }

// slack is how far behind s a time may be that was really after it.
func (s stamp) slack(st *fingerprint, local time.Duration) time.Duration {
	if s.coarse || st.ctime%int64(time.Second) == 0 {
		// A ctime of whole seconds is what ext3, and ext4 with small inodes,
		// always give.
		return coarseSlack
	}
	return local
}

// fileSystem is what a capture must know of the one that a directory is on.
type fileSystem struct {
	coarse bool
	pseudo bool // such as /proc: no files that anybody wrote
	// stampsNames: whenever a name is made, removed or renamed, the directory's
	// times are brought to the present.
	stampsNames bool
}

func fileSystemOf(d *beneath.Dir) (fileSystem, error) {
	fs, err := d.FileSystem()
	if err != nil {
		return fileSystem{}, err
	}
	return fileSystem{coarse: fs.CoarseTimes || fs.Remote, pseudo: fs.Pseudo, stampsNames: fs.StampsNames}, nil
}
