package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// lose loses an object, by a revision of the shadow repository.
func (s *fetchedScene) lose(rev string) {
	s.Helper()
	s.loosen()
	s.here.loseObject(s.own, strings.TrimSpace(s.here.git("--git-dir", s.own.ShadowRepo, "rev-parse", rev)))
	s.here = s.here.again()
}

// prunes tries to prune all but the newest turn of the own mission.
func (s *fetchedScene) prunes() (missions.PruneResult, error) {
	one, none := 1, time.Duration(0)
	return s.here.local.Prune(s.Context(), missions.PruneRequest{Caller: s.here.caller(), Policy: missions.PrunePolicy{KeepLast: &one, KeepWithin: &none}})
}

// noneKnownLost expects nothing to count as lost for good.
func (s *fetchedScene) noneKnownLost() {
	s.Helper()
	if known, err := os.ReadFile(filepath.Join(s.own.ShadowRepo, "umbra", "lost")); err != nil && !os.IsNotExist(err) || len(known) > 0 {
		s.Errorf("still known to be lost: %s %v", known, err)
	}
}

// TestPruneWithAFetchedLoss: once its user knows that a file or record of a fetched mission is
// lost, pruning goes on. Fetched again it is whole, and known to be lost no more. For a lost
// snapshot pruning waits, since all before it would go.
func TestPruneWithAFetchedLoss(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		rev    string
		prunes bool
	}{
		"a file":               {"refs/fetched/agents/office/%:a.txt", true},
		"a record's directory": {"refs/fetched/records/office/%:session", true},
		"a snapshot":           {"refs/fetched/agents/office/%~1", false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := startFetched(t)
			s.here.numbered(1, 4)
			s.lose(strings.Replace(c.rev, "%", s.id, 1))
			_, err := s.prunes()
			s.here.fails("before anybody was told", err, missions.KindDamaged)
			s.here.saysKnown()
			r, err := s.prunes()
			switch {
			case !c.prunes:
				s.here.fails("with a snapshot lost", err, missions.KindDamaged)
			case err != nil || r.Pruned() != 3 || r.Bytes <= 0:
				t.Errorf("pruned: %+v %v", r, err)
			}
			s.anew()
			s.noneKnownLost()
		})
	}
}

// TestDamageIsNotKnown: a fetched file that is there and damaged counts as lost only when doctor
// has tried to mend it.
func TestDamageIsNotKnown(t *testing.T) {
	t.Parallel()
	s := startFetched(t)
	id := strings.TrimSpace(s.here.git("--git-dir", s.own.ShadowRepo, "rev-parse", "refs/fetched/agents/office/"+s.id+":a.txt"))
	s.lose(id)
	s.here.put(filepath.Join(s.own.ShadowRepo, "objects", id[:2], id[2:]), "junk")
	s.here = s.here.again()
	s.here.saysKnown()
	s.noneKnownLost()
}

// saysKnown has its user say to know of what is wrong.
func (b *testBench) saysKnown() {
	b.Helper()
	if _, err := b.local.Doctor(b.Context(), missions.DoctorRequest{Caller: b.caller(), Known: true}); err != nil {
		b.Fatal(err)
	}
}

// TestSharedLossIsFetched: a snapshot that a fork shares with the fetched mission, and that was
// lost, comes again with that mission, and the fork is whole too.
func TestSharedLossIsFetched(t *testing.T) {
	t.Parallel()
	s := startFetched(t)
	made, err := s.here.local.Fork(t.Context(), missions.ForkRequest{Caller: s.here.caller(), From: "office/" + s.only().Name, Name: "twin"})
	if err != nil {
		t.Fatal(err)
	}
	before := s.here.line(made.Missions[0].Name)
	s.lose("refs/fetched/agents/office/" + s.id + "~1")
	s.here.said(missions.DoctorRequest{Fix: true})
	s.anew()
	s.noneKnownLost()
	if after := s.here.line(made.Missions[0].Name); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("the fork has %v, and had %v", after, before)
	}
}

// TestKnownLossOfAFork: what a mission of this home has lost too is not given up by a word about
// the fetched one.
func TestKnownLossOfAFork(t *testing.T) {
	t.Parallel()
	s := startFetched(t)
	if _, err := s.here.local.Fork(t.Context(), missions.ForkRequest{Caller: s.here.caller(), From: "office/" + s.only().Name + "@1", Name: "twin"}); err != nil {
		t.Fatal(err)
	}
	s.here.numbered(1, 4)
	s.lose("refs/fetched/agents/office/" + s.id + ":a.txt")
	s.here.saysKnown()
	_, err := s.prunes()
	s.here.fails("with a file lost that is its own", err, missions.KindDamaged)
	s.noneKnownLost()
}
