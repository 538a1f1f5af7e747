package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// room is a home of which a test says what is free.
func room(t *testing.T, limits settings.Storage) (s *home.Space, free *uint64) {
	t.Helper()
	h, err := home.Open(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	free = new(uint64)
	*free = 1 << 40
	s = home.NewSpace(h, limits, func(string) (uint64, error) { return *free, nil })
	return s, free
}

func put(s *home.Space, t *testing.T, name string, size int) {
	t.Helper()
	if err := os.WriteFile(s.Home.Path(name), make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSpaceFloor(t *testing.T) {
	t.Parallel()
	s, free := room(t, settings.Storage{KeepFree: 100 << 20})
	if err := s.CheckRoom(); err != nil {
		t.Error(err)
	}
	*free = 99 << 20
	err := s.CheckRoom()
	if e := missions.AsError(err); err == nil || e.Kind != missions.KindFailed || e.Hint == "" || !strings.Contains(e.Message, "only 99 MiB are free") {
		t.Errorf("%v", err)
	}
	// Whatever is configured, the index needs some.
	s.Limits.KeepFree = -1
	*free = home.MinFreeBytes - 1
	if err := s.CheckRoom(); err == nil {
		t.Error("no floor at all")
	}
	s.FreeBytes = func(string) (uint64, error) { return 0, errors.New("not known") }
	if err := s.CheckRoom(); err != nil {
		t.Errorf("refused without knowing: %v", err)
	}
}

// TestSpaceBudget measures when the home may be over its limit, and not before.
func TestSpaceBudget(t *testing.T) {
	t.Parallel()
	s, free := room(t, settings.Storage{MaxBytes: 4 << 20})
	now := time.Unix(1_700_000_000, 0)
	s.Clock = func() time.Time { return now }
	put(s, t, "big", 5<<20)
	if err := s.CheckRoom(); err != nil {
		t.Errorf("refused before anything was measured: %v", err)
	}
	if err := s.Measure(); err != nil {
		t.Fatal(err)
	}
	other := home.NewSpace(s.Home, s.Limits, s.FreeBytes) // another process
	for _, s := range []*home.Space{s, other} {
		err := s.CheckRoom()
		if e := missions.AsError(err); err == nil || !strings.Contains(e.Message, "more than the 4 MiB") || !strings.Contains(e.Hint, "storage.max_bytes") {
			t.Errorf("%v", err)
		}
	}
	put(s, t, "big", 1<<20)
	if err := s.CheckRoom(); err == nil {
		t.Error("measured again at once")
	}
	now = now.Add(home.MeasureInterval)
	if err := s.CheckRoom(); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	for bytes, said := range map[int]bool{3 << 20: false, 7 << 19: true} { // of 4 MiB
		put(s, t, "big", bytes)
		if err := s.Measure(); err != nil {
			t.Fatal(err)
		}
		if b := other.Budget(); (b != nil) != said || said && (b.IsReached() || b.MaxBytes != 4<<20 || b.Bytes < int64(bytes) || !b.MeasuredAt.Equal(now)) {
			t.Errorf("of %d bytes is said: %+v", bytes, b)
		}
	}
	if b := s.BudgetAt(5<<20, now); b == nil || !b.IsReached() {
		t.Errorf("beyond it is said: %+v", b)
	}
	put(s, t, "big", 1<<20)
	if err := s.Measure(); err != nil {
		t.Fatal(err)
	}
	// Somebody else fills the disk: measured, and nothing is wrong.
	*free -= 100 << 20
	now = now.Add(home.MeasureInterval)
	if err := s.CheckRoom(); err != nil || s.LastUsage.Free != *free {
		t.Errorf("%v, measured at %d free", err, s.LastUsage.Free)
	}
	// Less than there is room for: not measured.
	before := s.LastUsage.At
	*free -= 1 << 20
	now = now.Add(home.MeasureInterval)
	if err := s.CheckRoom(); err != nil || !s.LastUsage.At.Equal(before) {
		t.Errorf("%v, measured again", err)
	}
	s.Limits.MaxBytes = 0
	*free = home.MinFreeBytes
	if err := s.CheckRoom(); err != nil {
		t.Errorf("without a limit: %v", err)
	}
	if b := s.BudgetAt(1<<60, now); b != nil {
		t.Errorf("without a limit is said: %+v", b)
	}
}

// TestLinkedPacksTakeNothing: they are the user's repository's too.
func TestLinkedPacksTakeNothing(t *testing.T) {
	t.Parallel()
	s, _ := room(t, settings.Storage{})
	put(s, t, "pack", 1<<20)
	with, err := home.DiskUsage(s.Home.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(s.Home.Path("pack"), filepath.Join(t.TempDir(), "pack")); err != nil {
		t.Fatal(err)
	}
	without, err := home.DiskUsage(s.Home.Dir)
	if err != nil || with-without < 1<<20 {
		t.Errorf("%d, linked %d: %v", with, without, err)
	}
}

// TestNoRoomInProcess: without a daemon too nothing is written, and it is said.
func TestNoRoomInProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a", "one")
	m := b.mission("work")
	b.local.Space.Limits.KeepFree = 1 << 62
	b.local.Space.FreeBytes = func(string) (uint64, error) { return 1 << 40, nil } // what others write on this disk changes what is said
	b.write("a", "two")
	_, err := b.local.Snapshot(t.Context(), missions.SnapshotRequest{Caller: b.caller(), Mission: m.ID})
	if e := missions.AsError(err); err == nil || e.Kind != missions.KindFailed || !strings.Contains(e.Message, "Umbra writes nothing") {
		t.Errorf("%v", err)
	}
	status, err := b.local.Status(t.Context(), missions.StatusRequest{Caller: b.caller()})
	if err != nil || len(status.Problems) != 1 || !strings.Contains(status.Problems[0].Message, "Umbra writes nothing") {
		t.Errorf("%+v %v", status.Problems, err)
	}
	doctor, err := b.local.Doctor(t.Context(), missions.DoctorRequest{})
	if err != nil || len(doctor.Problems) != 1 || doctor.Problems[0].Message != status.Problems[0].Message || doctor.Problems[0].Fix != status.Problems[0].Fix {
		t.Errorf("doctor says %+v, %v, status %+v", doctor.Problems, err, status.Problems)
	}
	b.local.Space.Limits.KeepFree = 0
	if _, err := b.local.Snapshot(t.Context(), missions.SnapshotRequest{Caller: b.caller(), Mission: m.ID}); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestBudgetIsSaid: status and du say once the home takes nearly all that it may, and by which
// command room is given back; housekeeping measures it.
func TestBudgetIsSaid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.mission("work")
	b.quiet()
	takes := b.usage().Bytes
	for _, c := range []struct {
		most          int64
		said, reached bool
	}{{2 * takes, false, false}, {takes + takes/8, true, false}, {takes / 2, true, true}, {0, false, false}} {
		b.local.Space.Limits.MaxBytes = c.most
		s, err := b.local.Status(t.Context(), missions.StatusRequest{Caller: b.caller()})
		u := b.usage()
		if err != nil || (s.Budget != nil) != c.said || (u.Budget != nil) != c.said || c.said && (s.Budget.IsReached() != c.reached || u.Budget.IsReached() != c.reached) {
			t.Errorf("%d of %d: status says %+v, du %+v, %v", takes, c.most, s.Budget, u.Budget, err)
		}
		if c.reached && (len(s.Problems) != 1 || !strings.HasPrefix(s.Problems[0].Fix, "umbra du says")) {
			t.Errorf("reached, status says %+v", s.Problems)
		}
	}
}
