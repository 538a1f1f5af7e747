package home

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

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/settings"
	"golang.org/x/sys/unix"
)

func IsDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Space is the room there is for Umbra's home. It is safe for concurrent use.
type Space struct {
	Home      Home
	Limits    settings.Storage
	FreeBytes func(dir string) (uint64, error)
	Clock     func() time.Time

	mu         sync.Mutex
	LastUsage  *usage
	measuredAt time.Time
}

// usage is what the home took when it was last measured, and what was free then.
// Since it can't have grown by more than the free space has shrunk, it is
// measured again only when that might matter.
type usage struct {
	Bytes int64     `json:"bytes"`
	Free  uint64    `json:"free"`
	At    time.Time `json:"at"`
}

// MinFreeBytes is what is left free whatever the configuration says: the index,
// whose files are mapped, would end the process on a full disk (H36).
const MinFreeBytes = 16 << 20

// minFreeFiles is how many files a small snapshot makes: with room for fewer none is
// begun.
const minFreeFiles = 16

// MeasureInterval is how often the home is measured at most while it may be over
// its limit.
const MeasureInterval = time.Minute

// NewSpace watches the room for a home. free asks the system; nil is its own
// answer.
func NewSpace(home Home, limits settings.Storage, free func(dir string) (uint64, error)) *Space {
	if free == nil {
		free = diskFreeBytes
	}
	return &Space{Home: home, Limits: limits, FreeBytes: free, Clock: time.Now}
}

// diskFreeBytes is how many bytes an ordinary user can still write on the disk that
// holds dir.
func diskFreeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// diskFreeFiles is how many files can still be made on the disk that holds dir, where its
// file system counts them.
func diskFreeFiles(dir string) (left uint64, counted bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Files == 0 {
		return 0, false
	}
	return uint64(s.Ffree), true
}

// CheckRoom is why nothing may be written now, nil if there is room in a home that can be
// written to. It costs three calls of the system, but for rare moments when the home is
// measured.
func (s *Space) CheckRoom() error {
	free, known, err := s.checkDisk()
	if err != nil || !known || s.Limits.MaxBytes <= 0 {
		return err
	}
	return s.checkBudget(free)
}

// CheckDisk is CheckRoom without storage.max_bytes: for what gives room back.
func (s *Space) CheckDisk() error {
	_, _, err := s.checkDisk()
	return err
}

// checkDisk says what is free where it can be written, if that is known.
func (s *Space) checkDisk() (free uint64, known bool, err error) {
	if err := s.Home.CheckWritable(); err != nil {
		return 0, false, err
	}
	free, err = s.FreeBytes(s.Home.Dir)
	if err != nil {
		return 0, false, nil // whatever is wrong, the write will say
	}
	if floor := max(MinFreeBytes, s.Limits.KeepFree); free < uint64(floor) {
		return 0, false, missions.Errorf(missions.KindFailed, "free some space on that disk, then try again", "%w", &shortageError{
			"the disk is nearly full",
			fmt.Sprintf("only %d MiB are free on the disk of %s; below %d MiB Umbra writes nothing", free>>20, s.Home.Dir, floor>>20),
		})
	}
	if left, counted := diskFreeFiles(s.Home.Dir); counted && left < minFreeFiles {
		return 0, false, missions.Errorf(missions.KindFailed, "remove some files on that disk, then try again", "%w", &shortageError{
			"the disk takes no more files",
			fmt.Sprintf("the disk of %s has inodes for %d more files; below %d Umbra writes nothing", s.Home.Dir, left, minFreeFiles),
		})
	}
	return free, true, nil
}

// checkBudget is why nothing may be written though the disk has room.
func (s *Space) checkBudget(free uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.LastUsage == nil {
		s.LastUsage = s.savedUsage()
	}
	if s.LastUsage == nil || s.maxBytesNow(free) <= s.Limits.MaxBytes {
		return nil
	}
	if now := s.Clock(); now.Sub(s.measuredAt) >= MeasureInterval {
		s.measuredAt = now
		if u, err := s.measureAndSave(free); err == nil {
			s.LastUsage = u
		}
	}
	if s.LastUsage.Bytes <= s.Limits.MaxBytes {
		return nil
	}
	return missions.Errorf(missions.KindFailed, "umbra du says what could be given back, and by which command; or raise storage.max_bytes in "+s.Home.ConfigFile(), "%w", &shortageError{
		"storage.max_bytes is reached",
		fmt.Sprintf("%s holds %d MiB, more than the %d MiB that Umbra may take; nothing more is written", s.Home.Dir, s.LastUsage.Bytes>>20, s.Limits.MaxBytes>>20),
	})
}

// Budget is what the home takes of what it may take, as it was measured last, once that is
// nearly used up; nil before.
func (s *Space) Budget() *missions.Budget {
	u := s.savedUsage()
	if u == nil {
		return nil
	}
	return s.BudgetAt(u.Bytes, u.At)
}

// BudgetAt is Budget by another measurement.
func (s *Space) BudgetAt(bytes int64, at time.Time) *missions.Budget {
	b := missions.Budget{Bytes: bytes, MaxBytes: s.Limits.MaxBytes, MeasuredAt: at}
	if b.MaxBytes <= 0 || bytes < b.MaxBytes/10*8 {
		return nil
	}
	return &b
}

// shortageError is why nothing may be written where something could be.
type shortageError struct{ short, text string }

func (s *shortageError) Error() string { return s.text }

func (s *shortageError) brief() string { return s.short }

// ShortReason is CheckRoom in a few words, for where there is little room; "" if there is
// room.
func (s *Space) ShortReason() string {
	return ShortReasonOf(s.CheckRoom())
}

// ShortReasonOf is why nothing may be written, in a few words, if an error is about that.
func ShortReasonOf(err error) string {
	if why, ok := errors.AsType[interface {
		error
		brief() string
	}](err); ok {
		return why.brief()
	}
	return ""
}

// maxBytesNow is what the home may hold at most now.
func (s *Space) maxBytesNow(free uint64) int64 {
	return s.LastUsage.Bytes + max(0, int64(s.LastUsage.Free)-int64(free))
}

// Measure counts what the home takes, for all processes to know. It looks at each
// file: it belongs into the background.
func (s *Space) Measure() error {
	free, err := s.FreeBytes(s.Home.Dir)
	if err != nil {
		return err
	}
	now, err := s.measureAndSave(free)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.LastUsage = now
	return nil
}

func (s *Space) measureAndSave(free uint64) (*usage, error) {
	bytes, err := DiskUsage(s.Home.Dir)
	if err != nil {
		return nil, fmt.Errorf("measure %s: %w", s.Home.Dir, err)
	}
	u := &usage{Bytes: bytes, Free: free, At: s.Clock()}
	doc, err := json.Marshal(u)
	if err != nil {
		return nil, err
	}
	return u, journal.WriteVolatile(s.Home.Dir, s.Home.usageFile(), 0o600, append(doc, '\n'))
}

// savedUsage is what some process has measured, nil if none has.
func (s *Space) savedUsage() *usage {
	doc, err := os.ReadFile(s.Home.usageFile())
	var u usage
	if err != nil || json.Unmarshal(doc, &u) != nil {
		return nil
	}
	return &u
}

func (h Home) usageFile() string { return h.Path("usage.json") }

// DiskUsage is what the files below dir take on disk. A file with other names,
// such as a pack that is linked from the user's repository, takes nothing; nor
// does what may not be read, such as another user's directory.
func DiskUsage(dir string) (int64, error) {
	var m DiskMeter
	err := filepath.WalkDir(dir, m.AddEntry)
	return m.Bytes, err
}

// DiskMeter adds up what a walk meets.
type DiskMeter struct {
	Bytes      int64
	Unreadable int   // entries and directories that can't be read: closed, or their path is too long
	Why        error // of the last of them
}

func (m *DiskMeter) AddEntry(_ string, e fs.DirEntry, err error) error {
	if err == nil {
		var info fs.FileInfo
		if info, err = e.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok && (info.IsDir() || st.Nlink == 1) {
				m.Bytes += st.Blocks * 512
			}
		}
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENAMETOOLONG) {
		m.Unreadable, m.Why = m.Unreadable+1, err
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone meanwhile
	}
	return err
}
