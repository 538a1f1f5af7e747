package local

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// fetchedScene is a mission that was fetched into a home with a mission of its own.
type fetchedScene struct {
	*remoteScene
	here *testBench
	own  missions.Mission // of the home that has fetched
	id   string           // of the mission that was fetched
}

func startFetched(t *testing.T) *fetchedScene {
	t.Helper()
	c := startRemote(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "theirs\n")
	c.takeTurn("second", "b.txt", "two\n")
	c.push()
	s := &fetchedScene{remoteScene: c, here: c.other("office"), id: c.only().ID}
	s.here.write("own.txt", "mine\n")
	s.own = s.here.mission("mine")
	s.here.fetch()
	s.here.healthy()
	return s
}

// loosen makes loose objects of what packs hold, so that one of them can be lost.
func (s *fetchedScene) loosen() {
	s.Helper()
	packs, err := filepath.Glob(filepath.Join(s.own.ShadowRepo, "objects", "pack", "pack-*.pack"))
	if err != nil || len(packs) == 0 {
		s.Fatal(packs, err)
	}
	for _, pack := range packs {
		data, err := os.ReadFile(pack)
		if err != nil {
			s.Fatal(err)
		}
		files, err := filepath.Glob(strings.TrimSuffix(pack, ".pack") + ".*")
		if err != nil {
			s.Fatal(err)
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				s.Fatal(err)
			}
		}
		unpack := exec.Command("git", "--git-dir", s.own.ShadowRepo, "unpack-objects", "-q")
		unpack.Stdin = bytes.NewReader(data)
		if out, err := unpack.CombinedOutput(); err != nil {
			s.Fatalf("%v\n%s", err, out)
		}
	}
}

// in begins a command that is typed in any directory.
func (s *fetchedScene) in() string {
	return "cd " + home.ShellQuote(s.here.project().Locations.Path) + " && "
}

func (s *fetchedScene) refFile(name gitstore.RefName) string {
	return filepath.Join(s.own.ShadowRepo, filepath.FromSlash(string(name)))
}

// says expects doctor to name what is wrong with what was fetched, in one problem, and what
// to type; it mends nothing of it.
func (s *fetchedScene) says(message, fix string) {
	s.Helper()
	for _, mend := range []bool{false, true} {
		d := s.here.again().doctor(missions.DoctorRequest{Fix: mend})
		if len(d.Problems) != 1 || len(d.Lost)+len(d.Fixed) > 0 || !strings.Contains(d.Problems[0].Message, message) || d.Problems[0].Fix != fix {
			s.Errorf("doctor, mending %t: %+v, lost %+v, fixed %+v; not %q, %q", mend, d.Problems, d.Lost, d.Fixed, message, fix)
		}
	}
}

// anew does what doctor says: the remote is forgotten, added again and fetched from.
func (s *fetchedScene) anew() {
	s.Helper()
	s.here = s.here.again()
	if _, err := s.here.local.RemoveRemote(s.Context(), missions.RemoteRequest{Caller: s.here.caller(), Name: "office"}); err != nil {
		s.Fatal(err)
	}
	s.addRemote(s.here, "office")
	s.whole()
}

// whole expects a fetch to bring what is missing.
func (s *fetchedScene) whole() {
	s.Helper()
	s.here = s.here.again()
	s.here.fetch()
	s.here.healthy()
	for path, want := range map[string]string{"a.txt": "theirs\n", "b.txt": "two\n"} {
		if got := s.here.cat("office/"+s.only().Name, path); got != want {
			s.Errorf("%s is %q", path, got)
		}
	}
	s.fsck(s.own.ShadowRepo)
}

// TestLostOfAFetchedMission: what is lost of a mission that was fetched is named as its own,
// with what brings it again, and is not given up; that does bring it.
func TestLostOfAFetchedMission(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ rev, message string }{
		"a file":       {"agents/office/%:a.txt", "can't be read in "},
		"the newest":   {"agents/office/%", "can't be read: snapshot"},
		"the one then": {"agents/office/%~1", "can't be read: snapshot"},
		"a record":     {"records/office/%", "what was recorded with the files"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := startFetched(t)
			s.loosen()
			rev := "refs/fetched/" + strings.Replace(c.rev, "%", s.id, 1)
			s.here.loseObject(s.own, strings.TrimSpace(s.here.git("--git-dir", s.own.ShadowRepo, "rev-parse", rev)))
			s.says(c.message, s.in()+"git ls-remote "+home.ShellQuote(s.url)+" "+home.ShellQuote("refs/umbra/"+s.own.Project+"/*"))
			s.anew()
		})
	}
}

// TestFetchedLossIsNotGivenUp: where a mission of this home has lost something for good too, the
// history of one that was fetched is not cut at what it has lost: that is brought again.
func TestFetchedLossIsNotGivenUp(t *testing.T) {
	t.Parallel()
	s := startFetched(t)
	s.here.write("own.txt", "later\n")
	s.here.snapshot("later")
	s.loosen()
	for _, rev := range []string{"refs/agents/" + s.own.ID + "~1:own.txt", "refs/fetched/agents/office/" + s.id + "~1"} {
		s.here.loseObject(s.own, strings.TrimSpace(s.here.git("--git-dir", s.own.ShadowRepo, "rev-parse", rev)))
	}
	s.here = s.here.again()
	if said := s.here.said(missions.DoctorRequest{Fix: true}); strings.Contains(said, "lost for good") {
		t.Errorf("given up:\n%s", said)
	}
	s.here = s.here.again()
	if _, err := s.here.local.RemoveRemote(t.Context(), missions.RemoteRequest{Caller: s.here.caller(), Name: "office"}); err != nil {
		t.Fatal(err)
	}
	s.addRemote(s.here, "office")
	s.here = s.here.again()
	s.here.fetch()
	if log := s.here.line("office/" + s.only().Name); len(log) < 3 {
		t.Errorf("its history breaks off: %v", log)
	}
	s.here.knownLost(strings.TrimSpace(s.here.git("--git-dir", s.own.ShadowRepo, "rev-parse", "refs/agents/"+s.own.ID+"~1")))
}

// TestHalfAFetchedMission: a ref that is gone of a mission that was fetched is named, and one
// that can't be read; a fetch brings it again.
func TestHalfAFetchedMission(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		ref     func(remote, id string) gitstore.RefName
		message string
		torn    bool
	}{
		"its snapshots":      {gitstore.FetchedAgentRef, "the records are there, and no snapshots", false},
		"its records":        {gitstore.FetchedRecordRef, "the snapshots are there, and no records", false},
		"its snapshots torn": {gitstore.FetchedAgentRef, "refs/fetched/agents/office/", true},
		"its records torn":   {gitstore.FetchedRecordRef, "refs/fetched/records/office/", true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := startFetched(t)
			file := s.refFile(c.ref("office", s.id))
			fetch := s.in() + "umbra fetch office"
			if c.torn {
				s.here.put(file, "")
				aside := filepath.Join(filepath.Dir(s.own.ShadowRepo), "torn-"+strings.ReplaceAll(string(c.ref("office", s.id)), "/", "-"))
				s.says(c.message, "mv -n "+home.ShellQuote(file)+" "+home.ShellQuote(aside)+" && "+fetch)
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if !c.torn {
				s.says(c.message, fetch)
			}
			s.whole()
		})
	}
}
