//go:build unix

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// The test binary plays the process that gets killed, too.
const playVariable = "JOURNAL_TEST_PLAY"

func TestMain(m *testing.M) {
	play := os.Getenv(playVariable)
	if play == "" {
		os.Exit(m.Run())
	}
	fmt.Println("playing")
	var err error
	switch play {
	case "write":
		err = writeForever(os.Args[1])
	case "operate":
		err = operateForever(os.Args[1], os.Args[2])
	case "queue":
		err = queueForever(os.Args[1])
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func writeForever(path string) error {
	for n := 0; ; n++ {
		content := bytes.Repeat([]byte{'a' + byte(n%26)}, 200_000)
		if err := WriteFile(path, 0o600, content); err != nil {
			return err
		}
		if err := WriteVolatile("", path+"-volatile", 0o600, content); err != nil {
			return err
		}
	}
}

func operateForever(home, first string) error {
	j, err := Open(home, time.Now)
	if err != nil {
		return err
	}
	start, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	for n := start; ; n++ {
		o, err := j.Begin(id(n), "restore", plan{Target: id(n)})
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(o.DisplacedDir(), "0"), []byte("x"), 0o600); err != nil {
			return err
		}
		for _, step := range []func() error{
			func() error { return o.Advance(Staged) },
			func() error { return o.Update(plan{Target: id(n), Paths: []string{"later"}}) },
			func() error { return o.Advance(Applying) },
			func() error { return o.Advance(Applied) },
			o.Finish, o.Drop,
		} {
			if err := step(); err != nil {
				return err
			}
		}
	}
}

func queueForever(home string) error {
	j, err := Open(home, time.Now)
	if err != nil {
		return err
	}
	for {
		r, err := j.Enqueue(id(1), []byte(`{"x":1}`))
		if err != nil {
			return err
		}
		if _, err := j.SetStatus(id(1), r.Sequence, InProgress, nil); err != nil {
			return err
		}
		if err := j.PutLive(id(1), []byte(`{"live":true}`)); err != nil {
			return err
		}
	}
}

// killed runs a play for a moment and kills it.
func killed(t *testing.T, play string, args ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = []string{playVariable + "=" + play}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, err = out.Read(make([]byte, 16))
	must(t, err)
	timer := time.NewTimer(time.Duration(rand.IntN(12_000)) * time.Microsecond)
	<-timer.C
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if complaint.Len() > 0 {
		t.Fatalf("%s: %s", play, complaint.String())
	}
}

const kills = 25

func TestKilledWriters(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	must(t, WriteFile(path, 0o600, bytes.Repeat([]byte("a"), 200_000)))
	must(t, WriteVolatile("", path+"-volatile", 0o600, bytes.Repeat([]byte("a"), 200_000)))
	leftovers := 0
	for range kills {
		killed(t, "write", path)
		for _, name := range []string{path, path + "-volatile"} {
			content := read(t, name)
			if len(content) != 200_000 || bytes.Count([]byte(content), []byte(content[:1])) != 200_000 {
				t.Fatalf("%s is torn: %d bytes", name, len(content))
			}
		}
		swept, err := Sweep(dir)
		must(t, err)
		leftovers += len(swept)
		if left := names(t, dir); len(left) != 2 {
			t.Fatalf("left over: %v", left)
		}
	}
	if leftovers == 0 {
		t.Error("no kill came in the middle: the test shows nothing")
	}
}

func TestKilledOperations(t *testing.T) {
	home := t.TempDir()
	j, err := Open(home, time.Now)
	must(t, err)
	phases, next := map[Phase]int{}, 1
	for range kills {
		killed(t, "operate", home, strconv.Itoa(next))
		next += 1_000_000
		operations, damaged, err := j.List()
		must(t, err)
		if len(damaged) != 0 || len(operations) > 1 {
			t.Fatalf("%d operations, damaged %v", len(operations), damaged)
		}
		for _, o := range operations {
			phase, _ := o.Phase()
			phases[phase]++
			var doc plan
			must(t, o.Document(&doc))
			if doc.Target != o.ID() || phase != Staging && phase != Staged && len(doc.Paths) != 1 {
				t.Errorf("%s in phase %s has the document %+v", o.ID(), phase, doc)
			}
			must(t, o.Finish())
			if left, _ := listedNow(j); left == 1 {
				must(t, o.Drop())
			}
		}
		_, err = j.Sweep()
		must(t, err)
		if left := names(t, j.Dir()); len(left) != 0 {
			t.Fatalf("left over: %v", left)
		}
	}
	if len(phases) < 2 {
		t.Errorf("killed only in %v", phases)
	}
}

func listedNow(j *Journal) (int, error) {
	operations, _, err := j.List()
	return len(operations), err
}

func TestKilledQueues(t *testing.T) {
	home := t.TempDir()
	j, err := Open(home, time.Now)
	must(t, err)
	before := 0
	for range kills {
		killed(t, "queue", home)
		requests, damaged, err := j.Requests(id(1))
		must(t, err)
		if damaged != nil || len(requests) < before {
			t.Fatalf("%d requests after %d, damaged %v", len(requests), before, damaged)
		}
		before = len(requests)
		if state, err := j.Live(id(1)); err != nil && !errors.Is(err, os.ErrNotExist) || err == nil && string(state) != `{"live":true}` {
			t.Fatalf("state %s, %v", state, err)
		}
		_, err = j.Sweep()
		must(t, err)
	}
	if before == 0 {
		t.Error("no request was made: the test shows nothing")
	}
}

func TestFullDisk(t *testing.T) {
	mount := t.TempDir()
	must(t, mountTiny(t, mount))
	path := filepath.Join(mount, "f")
	must(t, WriteFile(path, 0o600, []byte("old")))
	j, err := Open(filepath.Join(mount, "home"), time.Now)
	must(t, err)
	o, err := j.Begin(id(1), "restore", plan{Target: "T"})
	must(t, err)
	for _, write := range []func() error{
		func() error { return WriteFile(path, 0o600, make([]byte, 1<<20)) },
		func() error { return WriteVolatile("", path, 0o600, make([]byte, 1<<20)) },
		func() error { return o.Update(plan{Target: string(bytes.Repeat([]byte("x"), 1<<20))}) },
		func() error {
			_, err := j.Begin(id(2), "restore", string(bytes.Repeat([]byte("x"), 1<<20)))
			return err
		},
	} {
		err := write()
		want(t, err, syscall.ENOSPC)
		t.Logf("says: %.120v", err)
	}
	if got := read(t, path); got != "old" {
		t.Errorf("old content: %q", got)
	}
	if left := names(t, mount); len(left) != 2 {
		t.Errorf("left over: %v", left)
	}
	operations, _ := listed(t, j, 1, 0)
	var doc plan
	must(t, operations[0].Document(&doc))
	if doc.Target != "T" {
		t.Errorf("document %+v", doc)
	}
	must(t, os.Remove(path))
	must(t, o.Advance(Staged))
	must(t, o.Finish())
	if left := names(t, j.Dir()); len(left) != 0 {
		t.Errorf("left over in the journal: %v", left)
	}
}
