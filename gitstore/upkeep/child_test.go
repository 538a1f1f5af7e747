package upkeep

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// childEnv makes the test binary run one of the programs below instead of the
// tests, as another process on a repository: "<program>|<directory>|<argument>".
const childEnv = "UMBRA_GITSTORE_TEST_CHILD"

func child(t testing.TB, program, dir, arg string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(storetest.Must[string](t)(os.Executable()))
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{program, dir, arg}, "|"))
	cmd.Stderr = os.Stderr
	return cmd
}

func runChild(what string) int {
	parts := strings.Split(what, "|")
	err := func() error {
		s, err := shadow.Open(parts[1])
		if err != nil {
			return err
		}
		defer s.Close()
		switch parts[0] {
		case "import":
			return childImport(s)
		case "append":
			return childAppend(s, parts[2])
		case "forever":
			for i := 0; ; i++ {
				if err := childSnapshot(s, os.Stdout, parts[2], i); err != nil {
					return err
				}
			}
		case "repack":
			_, err := Repack(context.Background(), s)
			return err
		case "giveback":
			_, err := GiveBack(context.Background(), s, unlocked())
			return err
		}
		return fmt.Errorf("no program %q", parts[0])
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		return 1
	}
	return 0
}

// childImport begins a pack, says so, and goes on until it is killed.
func childImport(s *shadow.Store) error {
	b := s.NewBatch()
	defer b.Discard()
	for i := 0; ; i++ {
		if _, err := b.Blob(fmt.Appendf(nil, "blob %d", i)); err != nil {
			return err
		}
		if i == storetest.InPack {
			fmt.Println("begun")
		}
	}
}

// childAppend adds 20 commits to the mission's ref.
func childAppend(s *shadow.Store, tag string) error {
	for i := range 20 {
		if err := storetest.AppendCommit(context.Background(), s, gitstore.AgentRef(storetest.Mission), fmt.Sprintf("%s-%d", tag, i), gitstore.Derived); err != nil {
			return err
		}
	}
	return nil
}

// childSnapshot publishes a snapshot of a few files, now and then of many or of
// large ones, with its record, and says so on out.
func childSnapshot(s *shadow.Store, out io.Writer, tag string, i int) error {
	ctx := context.Background()
	ref, recordRef := gitstore.AgentRef(storetest.Mission), gitstore.RecordRef(storetest.Mission)
	tip, err := s.Ref(ref)
	if err != nil {
		return err
	}
	parent, err := s.Snapshot(tip)
	if err != nil {
		return err
	}
	record, err := s.Record(parent.Record)
	if err != nil {
		return err
	}
	b := s.NewBatch()
	defer b.Discard()
	n := 1 + i%3
	if i%4 == 3 {
		n = 60
	}
	var entries []gitstore.TreeEntry
	for f := range n {
		id, err := b.Blob(fmt.Appendf(nil, "%s %d %d", tag, i, f))
		if err != nil {
			return err
		}
		entries = append(entries, gitstore.TreeEntry{Name: fmt.Sprint("f", f), Mode: gitstore.ModeFile, ID: id})
	}
	tree, err := b.Tree(entries)
	if err != nil {
		return err
	}
	file, err := b.Blob(fmt.Appendf(nil, "%s %d", tag, i))
	if err != nil {
		return err
	}
	recordTree, err := b.Tree([]gitstore.TreeEntry{{Name: "snapshot.json", Mode: gitstore.ModeFile, ID: file}})
	if err != nil {
		return err
	}
	rec, err := s.WriteRecord(b, &gitstore.Record{Tree: recordTree, Parents: []gitstore.ID{record.ID}, Kind: gitstore.KindSnapshot, Mission: storetest.Mission, Author: storetest.Signature(i), At: storetest.Signature(i).When})
	if err != nil {
		return err
	}
	snap, err := s.WriteSnapshot(b, &gitstore.Snapshot{Tree: tree, Parents: []gitstore.ID{tip}, Author: storetest.Signature(i), At: storetest.Signature(i).When,
		State: "idle", Message: tag, Trailers: gitstore.Trailers{Mission: storetest.Mission, Record: rec}})
	if err != nil {
		return err
	}
	if err := b.Flush(ctx); err != nil {
		return err
	}
	if err := b.ProveTree(tree, parent.Tree); err != nil {
		return err
	}
	if err := s.UpdateRef(ctx, ref, tip, snap, gitstore.Durable); err != nil {
		return err
	}
	at, err := s.Ref(recordRef)
	if err == nil {
		err = s.UpdateRef(ctx, recordRef, at, rec, gitstore.Derived)
	}
	if err == nil {
		_, err = fmt.Fprintln(out, snap)
	}
	return err
}
