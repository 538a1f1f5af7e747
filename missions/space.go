package missions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// Space is the room there is for Umbra's home. It is safe for concurrent use.
type Space struct {
	home   Home
	limits settings.Storage
	free   func(dir string) (uint64, error)
	clock  func() time.Time

	mu       sync.Mutex
	known    *usage
	measured time.Time
}

// usage is what the home took when it was last measured, and what was free then.
// Since it can't have grown by more than the free space has shrunk, it is
// measured again only when that might matter.
type usage struct {
	Bytes int64     `json:"bytes"`
	Free  uint64    `json:"free"`
	At    time.Time `json:"at"`
}

// leastFree is what is left free whatever the configuration says: the index,
// whose files are mapped, would end the process on a full disk (H36).
const leastFree = 16 << 20

// leastFiles is how many files a small snapshot makes: with room for fewer none is
// begun.
const leastFiles = 16

// measureEvery is how often the home is measured at most while it may be over
// its limit.
const measureEvery = time.Minute

// NewSpace watches the room for a home. free asks the system; nil is its own
// answer.
func NewSpace(home Home, limits settings.Storage, free func(dir string) (uint64, error)) *Space {
	if free == nil {
		free = freeSpace
	}
	return &Space{home: home, limits: limits, free: free, clock: time.Now}
}

// freeSpace is how many bytes an ordinary user can still write on the disk that
// holds dir.
func freeSpace(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// freeFiles is how many files can still be made on the disk that holds dir, where its
// file system counts them.
func freeFiles(dir string) (left uint64, counted bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Files == 0 {
		return 0, false
	}
	return uint64(s.Ffree), true
}

// Low is why nothing may be written now, nil if there is room in a home that can be
// written to. It costs three calls of the system, but for rare moments when the home is
// measured.
func (s *Space) Low() error {
	if err := s.home.ReadOnly(); err != nil {
		return err
	}
	free, err := s.free(s.home.Dir)
	if err != nil {
		return nil // whatever is wrong, the write will say
	}
	if floor := max(leastFree, s.limits.KeepFree); free < uint64(floor) {
		return Errorf(KindFailed, "free some space on that disk, then try again", "%w", &shortage{
			"the disk is nearly full",
			fmt.Sprintf("only %d MiB are free on the disk of %s; below %d MiB Umbra writes nothing", free>>20, s.home.Dir, floor>>20),
		})
	}
	if left, counted := freeFiles(s.home.Dir); counted && left < leastFiles {
		return Errorf(KindFailed, "remove some files on that disk, then try again", "%w", &shortage{
			"the disk takes no more files",
			fmt.Sprintf("the disk of %s has inodes for %d more files; below %d Umbra writes nothing", s.home.Dir, left, leastFiles),
		})
	}
	if s.limits.MaxBytes <= 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = s.noted()
	}
	if s.known == nil || s.most(free) <= s.limits.MaxBytes {
		return nil
	}
	if now := s.clock(); now.Sub(s.measured) >= measureEvery {
		s.measured = now
		if u, err := s.measure(free); err == nil {
			s.known = u
		}
	}
	if s.known.Bytes <= s.limits.MaxBytes {
		return nil
	}
	return Errorf(KindFailed, "raise storage.max_bytes in "+s.home.ConfigFile(), "%w", &shortage{
		"storage.max_bytes is reached",
		fmt.Sprintf("%s holds %d MiB, more than the %d MiB that Umbra may take; nothing more is written", s.home.Dir, s.known.Bytes>>20, s.limits.MaxBytes>>20),
	})
}

// shortage is why nothing may be written where something could be.
type shortage struct{ short, text string }

func (s *shortage) Error() string { return s.text }

func (s *shortage) brief() string { return s.short }

// stopped is Low in a few words, for where there is little room; "" if there is
// room.
func (s *Space) stopped() string {
	return shortOf(s.Low())
}

// shortOf is why nothing may be written, in a few words, if an error is about that.
func shortOf(err error) string {
	if why, ok := errors.AsType[interface {
		error
		brief() string
	}](err); ok {
		return why.brief()
	}
	return ""
}

// room checks that something can be written: else no snapshot is taken.
func (d *examination) room() {
	if err := d.l.space.Low(); err != nil {
		e := AsError(err)
		d.found(Problem{Message: e.Message, Fix: e.Hint}, nil)
	}
}

// most is what the home may hold at most now.
func (s *Space) most(free uint64) int64 {
	return s.known.Bytes + max(0, int64(s.known.Free)-int64(free))
}

// Measure counts what the home takes, for all processes to know. It looks at each
// file: it belongs into the background.
func (s *Space) Measure() error {
	free, err := s.free(s.home.Dir)
	if err != nil {
		return err
	}
	now, err := s.measure(free)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = now
	return nil
}

func (s *Space) measure(free uint64) (*usage, error) {
	bytes, err := diskUsage(s.home.Dir)
	if err != nil {
		return nil, fmt.Errorf("measure %s: %w", s.home.Dir, err)
	}
	u := &usage{Bytes: bytes, Free: free, At: s.clock()}
	doc, err := json.Marshal(u)
	if err != nil {
		return nil, err
	}
	return u, journal.WriteVolatile(s.home.Dir, s.home.usageFile(), 0o600, append(doc, '\n'))
}

// noted is what some process has measured, nil if none has.
func (s *Space) noted() *usage {
	doc, err := os.ReadFile(s.home.usageFile())
	var u usage
	if err != nil || json.Unmarshal(doc, &u) != nil {
		return nil
	}
	return &u
}

func (h Home) usageFile() string { return h.path("usage.json") }

// diskUsage is what the files below dir take on disk. A file with other names,
// such as a pack that is linked from the user's repository, takes nothing; nor
// does what may not be read, such as another user's directory.
func diskUsage(dir string) (int64, error) {
	var m measuring
	err := filepath.WalkDir(dir, m.entry)
	return m.bytes, err
}

// measuring adds up what a walk meets.
type measuring struct {
	bytes   int64
	refused int // entries and directories that may not be read
}

func (m *measuring) entry(_ string, e fs.DirEntry, err error) error {
	if err == nil {
		var info fs.FileInfo
		if info, err = e.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok && (info.IsDir() || st.Nlink == 1) {
				m.bytes += st.Blocks * 512
			}
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		m.refused++
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone meanwhile
	}
	return err
}
