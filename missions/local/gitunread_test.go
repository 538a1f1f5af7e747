package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/doctor"
)

// gitDamage makes a repository unreadable in one way.
type gitDamage struct {
	name string
	file string // below HOME
	bad  string
	says string // of what status says
	fork bool   // a fork needs no more than is readable
}

func gitDamages() []gitDamage {
	return []gitDamage{
		{"index of garbage", "work/.git/index", strings.Repeat("garbage ", 30), "index is damaged", true},
		{"index cut off", "work/.git/index", "DIRC\x00\x00\x00\x02\x00\x00\x00\x07", "index is damaged", true},
		{"empty index", "work/.git/index", "", "index is damaged", true},
		{"repository's configuration", "work/.git/config", "[broken", "bad configuration in line 1", false},
		{"user's configuration", ".gitconfig", "[broken", "bad config line", true},
	}
}

// TestUnreadGit: whatever of the user's Git can't be read, the workspace's files
// are captured and restored, those too that are tracked although ignored, and it is
// said once.
func TestUnreadGit(t *testing.T) {
	t.Parallel()
	for _, damage := range gitDamages() {
		t.Run(damage.name, func(t *testing.T) { testUnreadGit(t, damage) })
	}
}

// held lists the files of a snapshot.
func (b *testBench) held(snapshot string) string {
	b.Helper()
	var paths []string
	p := b.project()
	s, err := addresses.SnapshotByID(p, snapshot)
	if err == nil {
		err = p.Store.WalkTree(s.Tree, func(path string, _ gitstore.TreeEntry) error {
			paths = append(paths, path)
			return nil
		})
	}
	if err != nil {
		b.Fatal(err)
	}
	slices.Sort(paths)
	return strings.Join(paths, " ")
}

// TestUnreadGitNotAsked: what could not be asked to its end is not known to be well.
func TestUnreadGitNotAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q", "-b", "main")
	b.write("a.txt", "one\n")
	b.mission("work")
	b.put(filepath.Join(b.user, ".gitconfig"), "[broken") // which the git program is asked about
	b.snapshot("while it can't be read")
	ended, end := context.WithCancel(context.Background())
	end()
	m, err := b.local.FindMission(context.Background(), b.caller(), "work", addresses.InAnyProject)
	if err != nil {
		t.Fatal(err)
	}
	for what, ask := range map[string]func(context.Context) error{
		"problem": func(ctx context.Context) error { _, err := b.local.GitProblem(ctx, m); return err },
		"status": func(ctx context.Context) error {
			_, err := b.local.Status(ctx, missions.StatusRequest{Caller: b.caller()})
			return err
		},
		"doctor": func(ctx context.Context) error {
			return (&doctor.Examination{Examiner: b.local.Examiner}).CheckWorkspace(ctx, m)
		},
	} {
		if err := ask(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%s of nobody who waits: %v", what, err)
		}
		if err := ask(context.Background()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func testUnreadGit(t *testing.T, damage gitDamage) {
	b := newBench(t)
	file := filepath.Join(b.user, damage.file)
	b.put(filepath.Join(b.user, ".gitconfig"), "[core]\n excludesFile = ~/mine\n")
	b.put(filepath.Join(b.user, "mine"), "*.private\n")
	b.git("init", "-q", "-b", "main")
	for name, text := range map[string]string{".gitignore": "*.log\n", "a.txt": "one\n", "kept.log": "tracked\n", ".env": "tracked\n"} {
		b.write(name, text)
	}
	b.git("add", "-f", ".")
	b.git("commit", "-qm", "first")
	b.mission("work")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b.put(file, damage.bad)
	for _, in := range []*testBench{b, b.again()} {
		in.write("a.txt", "two\n")
		in.write("left.log", "ignored\n")
		in.write("x.private", "ignored by the user\n")
		in.write("kept.log", "tracked, and written to\n")
		e := in.snapshot("while it can't be read")
		if len(e.Notes) != 1 || !strings.Contains(e.Notes[0], damage.says) || !strings.Contains(e.Notes[0], "status says what is wrong") {
			t.Errorf("the snapshot says %q", e.Notes)
		}
		if got := in.held(e.ID); got != ".env .gitignore a.txt kept.log" {
			t.Errorf("it holds %s", got)
		}
		if got := in.cat(e.ID, "kept.log"); got != "tracked, and written to\n" {
			t.Errorf("kept.log is %q", got)
		}
		status, err := in.local.Status(context.Background(), missions.StatusRequest{Caller: in.caller()})
		if err != nil || len(status.Problems) != 1 || !strings.Contains(status.Problems[0].Message, damage.says) || status.Problems[0].Fix == "" {
			t.Errorf("status says %+v, %v", status.Problems, err)
		}
		doctor, err := in.local.Doctor(context.Background(), missions.DoctorRequest{Caller: in.caller()})
		if err != nil || len(doctor.Problems) != 1 || !strings.Contains(doctor.Problems[0].Message, damage.says) {
			t.Errorf("doctor says %+v, %v", doctor.Problems, err)
		}
		in.restore("work@start", func(r *missions.RestoreRequest) { r.All = true })
		if in.read("a.txt") != "one\n" || in.read("kept.log") != "tracked\n" || in.read(".env") != "tracked\n" || in.read("left.log") != "ignored\n" {
			t.Errorf("restored: %q %q %q %q", in.read("a.txt"), in.read("kept.log"), in.read(".env"), in.read("left.log"))
		}
	}
	_, err = b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work"})
	if (err == nil) != damage.fork || err != nil && !strings.Contains(missions.AsError(err).Hint, "git -C ") {
		t.Errorf("a fork now: %v", err)
	}
	moment := b.newest().ID
	b.put(file, string(good))
	b.snapshot("mended")
	b.healthy()
	if status, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()}); err != nil || len(status.Problems) > 0 {
		t.Errorf("once it is mended: %+v, %v", status.Problems, err)
	}
	if _, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: moment}); err != nil {
		t.Errorf("a fork of that moment: %v", err)
	}
}
