package missions

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions/settings"
)

// room is a home of which a test says what is free.
func room(t *testing.T, limits settings.Storage) (s *Space, free *uint64) {
	t.Helper()
	home, err := OpenHome(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	free = new(uint64)
	*free = 1 << 40
	s = NewSpace(home, limits, func(string) (uint64, error) { return *free, nil })
	return s, free
}

func (s *Space) put(t *testing.T, name string, size int) {
	t.Helper()
	if err := os.WriteFile(s.home.path(name), make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSpaceFloor(t *testing.T) {
	t.Parallel()
	s, free := room(t, settings.Storage{KeepFree: 100 << 20})
	if err := s.Low(); err != nil {
		t.Error(err)
	}
	*free = 99 << 20
	err := s.Low()
	if e := AsError(err); err == nil || e.Kind != KindFailed || e.Hint == "" || !strings.Contains(e.Message, "only 99 MiB are free") {
		t.Errorf("%v", err)
	}
	// Whatever is configured, the index needs some.
	s.limits.KeepFree = -1
	*free = leastFree - 1
	if err := s.Low(); err == nil {
		t.Error("no floor at all")
	}
	s.free = func(string) (uint64, error) { return 0, errors.New("not known") }
	if err := s.Low(); err != nil {
		t.Errorf("refused without knowing: %v", err)
	}
}

// TestSpaceBudget measures when the home may be over its limit, and not before.
func TestSpaceBudget(t *testing.T) {
	t.Parallel()
	s, free := room(t, settings.Storage{MaxBytes: 4 << 20})
	now := time.Unix(1_700_000_000, 0)
	s.clock = func() time.Time { return now }
	s.put(t, "big", 5<<20)
	if err := s.Low(); err != nil {
		t.Errorf("refused before anything was measured: %v", err)
	}
	if err := s.Measure(); err != nil {
		t.Fatal(err)
	}
	other := NewSpace(s.home, s.limits, s.free) // another process
	for _, s := range []*Space{s, other} {
		err := s.Low()
		if e := AsError(err); err == nil || !strings.Contains(e.Message, "more than the 4 MiB") || !strings.Contains(e.Hint, "storage.max_bytes") {
			t.Errorf("%v", err)
		}
	}
	s.put(t, "big", 1<<20)
	if err := s.Low(); err == nil {
		t.Error("measured again at once")
	}
	now = now.Add(measureEvery)
	if err := s.Low(); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	// Somebody else fills the disk: measured, and nothing is wrong.
	*free -= 100 << 20
	now = now.Add(measureEvery)
	if err := s.Low(); err != nil || s.known.Free != *free {
		t.Errorf("%v, measured at %d free", err, s.known.Free)
	}
	// Less than there is room for: not measured.
	before := s.known.At
	*free -= 1 << 20
	now = now.Add(measureEvery)
	if err := s.Low(); err != nil || !s.known.At.Equal(before) {
		t.Errorf("%v, measured again", err)
	}
	s.limits.MaxBytes = 0
	*free = leastFree
	if err := s.Low(); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}

// TestLinkedPacksTakeNothing: they are the user's repository's too.
func TestLinkedPacksTakeNothing(t *testing.T) {
	t.Parallel()
	s, _ := room(t, settings.Storage{})
	s.put(t, "pack", 1<<20)
	with, err := diskUsage(s.home.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(s.home.path("pack"), filepath.Join(t.TempDir(), "pack")); err != nil {
		t.Fatal(err)
	}
	without, err := diskUsage(s.home.Dir)
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
	b.local.space.limits.KeepFree = 1 << 62
	b.local.space.free = func(string) (uint64, error) { return 1 << 40, nil } // what others write on this disk changes what is said
	b.write("a", "two")
	_, err := b.local.Snapshot(t.Context(), SnapshotRequest{Caller: b.caller(), Mission: m.ID})
	if e := AsError(err); err == nil || e.Kind != KindFailed || !strings.Contains(e.Message, "Umbra writes nothing") {
		t.Errorf("%v", err)
	}
	status, err := b.local.Status(t.Context(), StatusRequest{Caller: b.caller()})
	if err != nil || len(status.Problems) != 1 || !strings.Contains(status.Problems[0].Message, "Umbra writes nothing") {
		t.Errorf("%+v %v", status.Problems, err)
	}
	doctor, err := b.local.Doctor(t.Context(), DoctorRequest{})
	if err != nil || len(doctor.Problems) != 1 || doctor.Problems[0].Message != status.Problems[0].Message || doctor.Problems[0].Fix != status.Problems[0].Fix {
		t.Errorf("doctor says %+v, %v, status %+v", doctor.Problems, err, status.Problems)
	}
	b.local.space.limits.KeepFree = 0
	if _, err := b.local.Snapshot(t.Context(), SnapshotRequest{Caller: b.caller(), Mission: m.ID}); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
