package restore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// reporter is what a lab needs of a test, also of one of rapid's.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// lab is a workspace and a shadow repository under test.
type lab struct {
	t        reporter
	base     string
	root     string
	store    *shadow.Store
	ws       *beneath.Root
	settings capture.Settings
	avoid    []beneath.Identity
	repo     *usergit.Repository
}

func newLab(t testing.TB) *lab {
	t.Helper()
	return newLabAt(t, t.TempDir(), "")
}

// newFastLab is on a file system in memory, if there is one.
func newFastLab(t testing.TB) *lab {
	t.Helper()
	base, err := os.MkdirTemp("/dev/shm", "umbra-restore-")
	if err != nil {
		return newLab(t)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	return newLabAt(t, base, "")
}

// newLabAt has its workspace elsewhere if root is not "".
func newLabAt(t testing.TB, base, root string) *lab {
	t.Helper()
	if root == "" {
		root = filepath.Join(base, "ws")
	}
	l := &lab{t: t, base: base, root: root}
	l.must(os.MkdirAll(root, 0o755))
	store, err := shadow.Create(context.Background(), filepath.Join(base, "shadow.git"), shadow.CreateOptions{ProjectID: "0b3c9c1e-0000-4000-8000-000000000001"})
	l.must(err)
	t.Cleanup(func() { _ = store.Close() })
	l.store = store
	l.ws, err = beneath.Open(root)
	l.must(err)
	t.Cleanup(func() { _ = l.ws.Close() })
	return l
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// filler is a content of some length.
func filler(n int) string { return strings.Repeat("0", n) }

func (l *lab) path(name string) string { return l.root + "/" + name }

func (l *lab) write(name, content string) {
	l.t.Helper()
	l.must(os.MkdirAll(filepath.Dir(l.path(name)), 0o755))
	l.must(os.WriteFile(l.path(name), []byte(content), 0o644))
}

func (l *lab) link(target, name string) {
	l.t.Helper()
	l.must(os.MkdirAll(filepath.Dir(l.path(name)), 0o755))
	l.must(os.Symlink(target, l.path(name)))
}

func (l *lab) remove(names ...string) {
	l.t.Helper()
	for _, name := range names {
		l.must(os.RemoveAll(l.path(name)))
	}
}

// capture takes a snapshot, of which all documents have been through JSON.
func (l *lab) capture() Side { return l.captureWith(nil) }

// captureWith is capture with the files at some paths, whatever rule leaves them out.
func (l *lab) captureWith(paths []string) Side {
	l.t.Helper()
	options := capture.Options{Held: capture.NoHeld().Including(paths)}
	rules, err := capture.LoadRules(capture.Sources{Root: l.root, Settings: l.settings, Repository: l.repo})
	l.must(err)
	batch := l.store.NewBatch()
	defer batch.Discard()
	scanner := capture.NewScanner(capture.Workspace{Root: l.root, Identity: l.ws.Identity(), Avoid: l.avoid})
	result, err := scanner.Capture(context.Background(), batch, rules, capture.Dirty{All: true}, options)
	l.must(err)
	l.must(batch.Flush(context.Background()))
	side := Side{Tree: result.Tree}
	side.Rules, err = documents.ParseRules(result.Rules, l.files(result.Tree))
	l.must(err)
	side.Skipped, err = documents.ParseSkipped(documents.SkippedDocument(result.Skipped))
	l.must(err)
	side.Modes, err = documents.ParseModes(result.Modes.Document())
	l.must(err)
	return side
}

func (l *lab) files(tree gitstore.ID) documents.FileReader {
	return func(path string) ([]byte, bool, error) {
		e, err := l.store.Lookup(tree, path)
		if errors.Is(err, gitstore.ErrNoEntry) || err == nil && e.Mode != gitstore.ModeFile && e.Mode != gitstore.ModeExec {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		data, err := l.store.Blob(e.ID)
		return data, true, err
	}
}

// plan plans and checks that the plan survives JSON.
func (l *lab) plan(from, to Side, change ...func(*Request)) *Plan {
	l.t.Helper()
	r := Request{From: from, To: to}
	for _, c := range change {
		c(&r)
	}
	p, err := Make(l.store, l.ws, r)
	l.must(err)
	return l.throughJSON(p)
}

func (l *lab) throughJSON(p *Plan) *Plan {
	l.t.Helper()
	data, err := json.Marshal(p)
	l.must(err)
	var out Plan
	l.must(json.Unmarshal(data, &out))
	again, err := json.Marshal(out)
	l.must(err)
	if string(data) != string(again) {
		l.t.Fatalf("plan is changed by JSON:\n%s\n%s", data, again)
	}
	return &out
}

// inverse plans the taking back of a plan.
func (l *lab) inverse(of *Plan) *Plan {
	l.t.Helper()
	return l.inverseFrom(l.capture(), of)
}

func (l *lab) inverseFrom(now Side, of *Plan) *Plan {
	l.t.Helper()
	p, err := Inverse(l.store, l.ws, InverseRequest{Now: now, Of: of})
	l.must(err)
	return l.throughJSON(p)
}

// disk is what is in the workspace: paths, with content and what kind.
func (l *lab) disk() map[string]string {
	l.t.Helper()
	out := map[string]string{}
	l.must(filepath.WalkDir(l.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == l.root {
			return err
		}
		name := strings.TrimPrefix(path, l.root+"/")
		switch {
		case d.IsDir():
			out[name] = "dir"
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			out[name] = "link " + target
			return err
		case d.Type().IsRegular():
			info, err := d.Info()
			if err != nil {
				return err
			}
			data, err := os.ReadFile(path)
			kind := "file "
			if info.Mode()&0o100 != 0 {
				kind = "exec "
			}
			out[name] = kind + string(data)
			return err
		default:
			out[name] = "special"
		}
		return nil
	}))
	return out
}

// blob stores a blob, and tree a tree of raw entries, whatever their names.
func (l *lab) blob(content string) gitstore.ID {
	l.t.Helper()
	return l.object(gitstore.TypeBlob, []byte(content))
}

func (l *lab) tree(entries ...gitstore.TreeEntry) gitstore.ID {
	l.t.Helper()
	var data []byte
	for _, e := range entries {
		mode := strings.TrimPrefix(e.Mode.String(), "0")
		data = append(append(append(data, mode+" "+e.Name...), 0), e.ID[:]...)
	}
	return l.object(gitstore.TypeTree, data)
}

func (l *lab) object(t gitstore.ObjectType, data []byte) gitstore.ID {
	l.t.Helper()
	batch := l.store.NewBatch()
	defer batch.Discard()
	id, err := batch.Write(t, data)
	l.must(err)
	l.must(batch.Flush(context.Background()))
	return id
}

// operation is a plan under way.
type operation struct {
	l       *lab
	journal *journal.Journal
	work    *Work
}

func (l *lab) openJournal() *journal.Journal {
	l.t.Helper()
	j, err := journal.Open(filepath.Join(l.base, "home"), time.Now)
	l.must(err)
	return j
}

var serial atomic.Int64

func newID() string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", serial.Add(1)) }

// begin writes the entry of a plan, and reads its document back.
func (l *lab) begin(p *Plan, options PrepareOptions) *operation {
	l.t.Helper()
	j := l.openJournal()
	id := newID()
	doc, err := Prepare(l.ws, j.Dir(), id, p, options)
	l.must(err)
	_, err = j.Begin(id, "restore", doc)
	l.must(err)
	return l.resume(id)
}

// resume loads an entry, as another process would.
func (l *lab) resume(id string) *operation {
	l.t.Helper()
	j := l.openJournal()
	entry, err := j.Load(id)
	l.must(err)
	var doc Document
	l.must(entry.Document(&doc))
	return &operation{l: l, journal: j, work: &Work{Root: l.ws, Objects: l.store, Entry: entry, Document: &doc}}
}

// end finishes and settles an operation, and checks that nothing is left.
func (o *operation) end() *Settled {
	o.l.t.Helper()
	o.l.must(o.work.Finish())
	settled, err := o.work.Settle(nil)
	o.l.must(err)
	if settled.Empty {
		o.drop()
		o.l.clean()
	}
	return settled
}

func (o *operation) drop() {
	o.l.t.Helper()
	if _, err := os.Lstat(o.work.Entry.Path()); err == nil {
		o.l.must(o.work.Entry.Drop())
	}
}

// clean checks that the journal is empty and no staged name is in the workspace.
func (l *lab) clean() {
	l.t.Helper()
	list, damaged, err := l.openJournal().List()
	l.must(err)
	if len(list)+len(damaged) > 0 {
		l.t.Errorf("the journal still holds %d operations, %d damaged", len(list), len(damaged))
	}
	for path := range l.disk() {
		if _, _, scratch := beneath.ParseScratch(treepath.Base(path)); scratch {
			l.t.Errorf("%s is left in the workspace", path)
		}
	}
}

// apply carries a plan out that nothing gets in the way of.
func (l *lab) apply(p *Plan, options PrepareOptions) *Outcome {
	l.t.Helper()
	o := l.begin(p, options)
	outcome, err := o.work.Apply(context.Background())
	l.must(err)
	if len(outcome.Left)+len(outcome.Displaced)+len(outcome.Notes) > 0 {
		l.t.Errorf("left %v, displaced %v, notes %v", outcome.Left, outcome.Displaced, outcome.Notes)
	}
	if len(outcome.Done) != len(p.Changes) {
		l.t.Errorf("done %q of %s", outcome.Done, lines(p))
	}
	o.end()
	return outcome
}

// planned is what the disk is to be after a plan.
func (l *lab) planned(disk map[string]string, p *Plan) map[string]string {
	l.t.Helper()
	out := maps.Clone(disk)
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.To == nil {
			delete(out, c.Path)
			continue
		}
		data, err := l.store.Blob(c.To.Blob)
		l.must(err)
		kind := map[gitstore.Mode]string{gitstore.ModeFile: "file ", gitstore.ModeExec: "exec ", gitstore.ModeSymlink: "link "}
		out[c.Path] = kind[c.To.Mode] + string(data)
	}
	for _, d := range p.MakeDirs {
		out[d.Path] = "dir"
	}
	for _, d := range p.RemoveDirs {
		holds := false
		for path := range out {
			holds = holds || path != d.Path && treepath.Covers(d.Path, path)
		}
		if !holds && out[d.Path] == "dir" {
			delete(out, d.Path)
		}
	}
	return out
}

// same compares two disks.
func (l *lab) same(what string, got, want map[string]string) {
	l.t.Helper()
	for path, is := range got {
		if want[path] != is {
			l.t.Errorf("%s: %q is %.60q, want %.60q", what, path, is, want[path])
		}
	}
	for path, is := range want {
		if _, ok := got[path]; !ok {
			l.t.Errorf("%s: %q is missing, want %.60q", what, path, is)
		}
	}
}
