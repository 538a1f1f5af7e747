package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

const childVariable = "UMBRA_TEST_RESTORE_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childVariable); job != "" {
		if err := child(strings.Split(job, "\n")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child carries an operation out, or recovers it, and kills itself before the
// step with the given number.
func child(job []string) error {
	base, root, id, verb := job[0], job[1], job[2], job[3]
	at, err := strconv.ParseInt(job[4], 10, 64)
	if err != nil {
		return err
	}
	store, err := shadow.Open(filepath.Join(base, "shadow.git"))
	if err != nil {
		return err
	}
	defer store.Close()
	options := beneath.Options{NoExchange: len(job) > 5 && job[5] == "noexchange"}
	ws, err := beneath.OpenWith(root, options)
	if err != nil {
		return err
	}
	j, err := journal.Open(filepath.Join(base, "home"), time.Now)
	if err != nil {
		return err
	}
	entry, err := j.Load(id)
	if err != nil {
		return err
	}
	var doc Document
	if err := entry.Document(&doc); err != nil {
		return err
	}
	var count atomic.Int64
	w := &Work{Root: ws, Objects: store, Entry: entry, Document: &doc, Step: func(string) error {
		if count.Add(1) == at {
			return errors.Join(syscall.Kill(os.Getpid(), syscall.SIGKILL), waitForDeath())
		}
		return nil
	}}
	switch verb {
	case "apply":
		_, err = w.Apply(context.Background())
	case "recover":
		_, _, err = w.Recover(context.Background(), func(context.Context) (bool, error) { return true, nil })
	}
	return err
}

func waitForDeath() error {
	time.Sleep(time.Minute)
	return errors.New("not killed")
}

// spawn runs a child and tells whether it was killed.
func (l *lab) spawn(id, verb string, at int, options ...string) (killed bool) {
	l.t.Helper()
	cmd := exec.Command(os.Args[0])
	job := append([]string{l.base, l.root, id, verb, strconv.Itoa(at)}, options...)
	cmd.Env = append(os.Environ(), childVariable+"="+strings.Join(job, "\n"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	l.must(cmd.Start())
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		return true
	}
	if err != nil {
		l.t.Fatalf("%s: %v: %s", verb, err, &stderr)
	}
	return false
}

// everything makes a target and a source that differ in every way, and plans.
func (l *lab) everything() *Plan {
	l.t.Helper()
	l.write("a", "1")
	l.write("same", "same")
	l.write("run", "#!")
	l.must(os.Chmod(l.path("run"), 0o755))
	l.write("d/x", "x1")
	l.write("d/y", "y1")
	l.link("a", "link")
	l.link("a", "becomes-file")
	l.write("becomes-dir/q", "q")
	l.write("becomes-dir/sub/q", "q2")
	l.write("was-dir", "file")
	l.write("private", "p")
	l.must(os.Chmod(l.path("private"), 0o600))
	l.write("gone/deep/z", "z")
	l.write("readonly/r", "r1")
	l.write("readonly/away", "w")
	l.must(os.MkdirAll(l.path("empty/inside"), 0o755))
	l.must(os.Chmod(l.path("readonly"), 0o555))
	to := l.capture()
	l.must(os.Chmod(l.path("readonly"), 0o755))
	l.write("a", "2 and more")
	l.must(os.Chmod(l.path("run"), 0o644))
	l.write("d/x", "x2")
	l.remove("d/y", "link", "becomes-file", "becomes-dir", "was-dir", "gone", "readonly/away", "empty")
	l.link("b", "link")
	l.write("becomes-file", "plain")
	l.write("becomes-dir", "flat")
	l.write("was-dir/k", "k")
	l.write("was-dir/sub/k", "k2")
	l.must(os.Chmod(l.path("private"), 0o644))
	l.write("new/n/o", "o")
	l.write("new/p", "p")
	l.write("readonly/r", "r2")
	l.write("readonly/new", "n")
	l.must(os.Chmod(l.path("readonly"), 0o555))
	return l.plan(l.capture(), to)
}

// exact is the disk with permission bits.
func (l *lab) exact() map[string]string {
	l.t.Helper()
	out := l.disk()
	for path, is := range out {
		if _, _, scratch := beneath.ParseScratch(treepath.Base(path)); scratch {
			delete(out, path)
			continue
		}
		info, err := os.Lstat(l.path(path))
		l.must(err)
		if info.Mode()&fs.ModeSymlink == 0 {
			out[path] = fmt.Sprintf("%s %o", is, info.Mode().Perm())
		}
	}
	return out
}

// afterEverything is the disk after an undisturbed restore.
func afterEverything(t *testing.T) map[string]string {
	l := newFastLab(t)
	p := l.everything()
	l.apply(p, PrepareOptions{})
	return l.exact()
}

// variants are the ways in which files are staged and exchanged.
func variants() map[string][]string {
	return map[string][]string{"journal": nil, "beside": {"", "beside"}, "without exchange": {"noexchange"}}
}

func isBeside(options []string) PrepareOptions { return PrepareOptions{Beside: len(options) > 1} }

// strideFor lets a test pass over steps, other ones each time it runs.
func strideFor(variant string, journal, other int) int {
	if variant == "journal" {
		return journal
	}
	return other
}

// TestFailAtEachStep: whatever step fails, everything is as before.
func TestFailAtEachStep(t *testing.T) {
	hazards.Held(t, hazards.H13, "an error at any step takes all back")
	for name, options := range variants() {
		t.Run(name, func(t *testing.T) {
			stride := strideFor(name, 1, 5)
			for at := 1 + rand.IntN(stride); !t.Failed(); at += stride {
				l := newFastLab(t)
				p := l.everything()
				if len(options) == 1 {
					l.withoutExchange()
				}
				before := l.exact()
				o := l.begin(p, isBeside(options))
				var count atomic.Int64
				var failed string
				cause := errors.New("failed here")
				o.work.Step = func(name string) error {
					if count.Add(1) == int64(at) {
						failed = name
						return cause
					}
					return nil
				}
				_, err := o.work.Apply(context.Background())
				if failed == "" {
					l.must(err)
					if at < 40 {
						t.Errorf("only %d steps", at)
					}
					return
				}
				if !errors.Is(err, cause) {
					t.Fatalf("at %q: %v", failed, err)
				}
				var failure *Failure
				if errors.As(err, &failure) && failure.Back != nil {
					t.Fatalf("at %q: %v", failed, err)
				}
				l.same("failed at "+failed, l.exact(), before)
				if !o.end().Empty {
					t.Errorf("failed at %q: something is left in quarantine", failed)
				}
			}
		})
	}
}

func (l *lab) withoutExchange() {
	l.t.Helper()
	ws, err := beneath.OpenWith(l.root, beneath.Options{NoExchange: true})
	l.must(err)
	l.t.Cleanup(func() { _ = ws.Close() })
	l.ws = ws
}

// TestKillAtEachStep: killed before any step, and killed again while it
// recovers, the operation ends with all that is new or all that was.
func TestKillAtEachStep(t *testing.T) {
	dir := t.TempDir()
	naive := exec.Command("sh", "-c", "mkdir then now; echo 1 >then/a; echo 1 >then/b; echo 2 >now/a; echo 2 >now/b; cp then/a now/a; kill -9 $$; cp then/b now/b")
	naive.Dir = dir
	_ = naive.Run()
	a, _ := os.ReadFile(filepath.Join(dir, "now/a"))
	b, _ := os.ReadFile(filepath.Join(dir, "now/b"))
	hazards.Shown(t, hazards.H13, string(a) == "1\n" && string(b) == "2\n", "who copies file by file and is killed leaves half of it old and half new, and no way on")
	hazards.Held(t, hazards.H13, "killed before any step, the workspace is wholly old or wholly new after the next start")
	after := afterEverything(t)
	for name, options := range variants() {
		t.Run(name, func(t *testing.T) {
			stride := strideFor(name, 5, 11)
			for at := 1 + rand.IntN(stride); ; at += stride {
				l := newFastLab(t)
				p := l.everything()
				before := l.exact()
				o := l.begin(p, isBeside(options))
				killed := l.spawn(o.work.Entry.ID(), "apply", at, options...)
				if killed && rand.IntN(2) == 0 {
					l.spawn(o.work.Entry.ID(), "recover", 1+rand.IntN(20), options...)
				}
				l.recovered(fmt.Sprintf("killed at step %d", at), o.work.Entry.ID(), before, after)
				if t.Failed() || !killed {
					if at < 40 {
						t.Errorf("only %d steps", at)
					}
					break
				}
			}
		})
	}
}

// recovered recovers an operation and checks that nothing is half done.
func (l *lab) recovered(what, id string, before, after map[string]string) {
	l.t.Helper()
	o := l.resume(id)
	recovery, outcome, err := o.work.Recover(context.Background(), func(context.Context) (bool, error) {
		strangers, err := o.work.Document.Strangers(l.store, l.ws, l.capture().Tree)
		if len(strangers) > 0 {
			l.t.Errorf("%s: strangers %q", what, strangers)
		}
		return len(strangers) == 0, err
	})
	if err != nil {
		l.t.Fatalf("%s: %v", what, err)
	}
	now := l.exact()
	switch recovery {
	case Forward:
		l.same(what+": forward", now, after)
	case Back:
		l.same(what+": back", now, before)
	default:
		l.t.Errorf("%s: recovery is %s", what, recovery)
	}
	if len(outcome.Displaced)+len(outcome.Left) > 0 {
		l.t.Errorf("%s: %s: displaced %v, left %v", what, recovery, outcome.Displaced, outcome.Left)
	}
	if !o.end().Empty {
		l.t.Errorf("%s: %s: something is left in quarantine", what, recovery)
	}
}
