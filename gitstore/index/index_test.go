package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// The test binary plays the process that is killed.
const playVariable = "INDEX_TEST_DIR"

func TestMain(m *testing.M) {
	dir := os.Getenv(playVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	if disk := os.Getenv("INDEX_TEST_FILL"); disk != "" {
		fmt.Println(badgerOnAFullDisk(dir, disk))
		os.Exit(0)
	}
	x, rebuilt, err := Open(dir)
	if err != nil || rebuilt != nil {
		fmt.Println(rebuilt, err)
		os.Exit(1)
	}
	for i := 0; i < 100_000; i++ {
		x.Put(fmt.Sprintf("key%06d", i), json.RawMessage(`{"n":1}`))
		fmt.Println(i)
	}
}

func opened(t *testing.T, dir string) *Index {
	t.Helper()
	x, rebuilt, err := Open(dir)
	if err != nil || rebuilt != nil {
		t.Fatalf("open: rebuilt %v, %v", rebuilt, err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, x *Index, key, want string) {
	t.Helper()
	if got, ok := x.Get(key); ok != (want != "") || string(got) != want {
		t.Errorf("%s is %q, %v; want %q", key, got, ok, want)
	}
}

func TestKeeps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x := opened(t, dir)
	get(t, x, "a", "")
	x.Put("b", json.RawMessage(`2`))
	x.Put("a", json.RawMessage(`1`))
	x.Put("a", json.RawMessage(`3`))
	x.Put("long", json.RawMessage(`"`+strings.Repeat("x", mostValue)+`"`))
	get(t, x, "a", "3")
	get(t, x, "long", "")
	must(t, x.Close())
	must(t, x.Close())
	get(t, x, "a", "")
	x.Put("a", json.RawMessage(`4`))
	x = opened(t, dir)
	var seen []string
	must(t, x.Each(func(key string, value json.RawMessage) bool {
		seen = append(seen, key+"="+string(value))
		x.Put("c", json.RawMessage(`5`))
		return true
	}))
	if got := strings.Join(seen, " "); got != "a=3 b=2" {
		t.Errorf("entries: %s", got)
	}
	n := 0
	must(t, x.Each(func(string, json.RawMessage) bool { n++; return false }))
	if n != 1 {
		t.Errorf("%d entries after the last", n)
	}
	must(t, x.Reset())
	get(t, x, "a", "")
	x.Put("a", json.RawMessage(`6`))
	must(t, x.Close())
	get(t, opened(t, dir), "a", "6")
}

func TestTakesTurns(t *testing.T) {
	dir := t.TempDir()
	x := opened(t, dir)
	if _, _, err := Open(dir); !errors.Is(err, ErrInUse) {
		t.Errorf("opened twice: %v", err)
	}
	x.Put("a", json.RawMessage(`1`))
	get(t, x, "a", "1")
}

// TestDamage opens what is left of an index after each kind of damage.
func TestDamage(t *testing.T) {
	all := func(change func(p []byte) []byte, match string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			names, err := filepath.Glob(filepath.Join(dir, match))
			must(t, err)
			if len(names) == 0 {
				t.Fatalf("no %s", match)
			}
			for _, name := range names {
				p, err := os.ReadFile(name)
				must(t, err)
				must(t, os.WriteFile(name, change(p), 0o600))
			}
		}
	}
	cut := func(p []byte) []byte { return p[:len(p)/2] }
	garbage := func(p []byte) []byte { return []byte(strings.Repeat("garbage ", len(p)/8+1)) }
	for name, damage := range map[string]func(*testing.T, string){
		"manifest cut":     all(cut, "MANIFEST"),
		"manifest garbage": all(garbage, "MANIFEST"),
		"manifest empty":   all(func([]byte) []byte { return nil }, "MANIFEST"),
		"tables cut":       all(cut, "*.sst"),
		"tables garbage":   all(garbage, "*.sst"),
		"tables missing": func(t *testing.T, dir string) {
			names, _ := filepath.Glob(filepath.Join(dir, "*.sst"))
			for _, name := range names {
				must(t, os.Remove(name))
			}
		},
		"another format": func(t *testing.T, dir string) {
			x := opened(t, dir)
			must(t, x.db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(formatKey), []byte("0")) }))
			must(t, x.Close())
		},
		"a file is in its place": func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir))
			must(t, os.MkdirAll(dir, 0o700))
			must(t, os.Mkdir(filepath.Join(dir, "MANIFEST"), 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "index")
			x := opened(t, dir)
			for i := range 2000 {
				x.Put(fmt.Sprintf("key%d", i), json.RawMessage(`{"value":"of some length, so that there is a table"}`))
			}
			must(t, x.Close())
			damage(t, dir)
			// Some damage ends the process that opens it. No other one.
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), playVariable+"="+dir)
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Errorf("the damage was not noticed: %s", out)
			}
			x, _, err := Open(dir)
			must(t, err)
			defer x.Close()
			get(t, x, "key1", "")
			x.Put("key1", json.RawMessage(`1`))
			get(t, x, "key1", "1")
		})
	}
}

func TestLost(t *testing.T) {
	for name, lose := range map[string]func(dir string) error{
		"deleted":  os.RemoveAll,
		"emptied":  func(dir string) error { return empty(dir) },
		"replaced": func(dir string) error { return errors.Join(os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "index")
			x := opened(t, dir)
			x.Put("a", json.RawMessage(`1`))
			if x.Lost() {
				t.Error("lost already")
			}
			must(t, lose(dir))
			if !x.Lost() {
				t.Error("not lost")
			}
			closed := make(chan error, 1)
			go func() { closed <- x.Close() }()
			select {
			case err := <-closed:
				must(t, err)
			case <-time.After(patience.Of(time.Minute)):
				t.Fatal("close hangs")
			}
			get(t, opened(t, dir), "a", "")
		})
	}
}

// TestLostWithItsHome: what an index was in is not made anew where it was.
func TestLostWithItsHome(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	must(t, os.Mkdir(home, 0o700))
	x := opened(t, filepath.Join(home, "index"))
	must(t, os.Rename(home, home+".moved"))
	for _, act := range []func() error{x.Close, func() error { _, _, err := Open(filepath.Join(home, "index")); return err }} {
		if err := act(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("in a home that is not there: %v", err)
		}
		if _, err := os.Lstat(home); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("it is there again: %v", err)
		}
	}
}

// TestKilled kills a process that writes: what was kept is there, and the next
// process opens it.
func TestKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	var last int
	for last < 500 {
		if _, err := fmt.Fscanln(out, &last); err != nil {
			t.Fatal(err)
		}
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	x := opened(t, dir)
	for i := range last {
		get(t, x, fmt.Sprintf("key%06d", i), `{"n":1}`)
	}
}

func TestManyAtOnce(t *testing.T) {
	x := opened(t, t.TempDir())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 200 {
				key := fmt.Sprintf("%d/%d", i, n)
				x.Put(key, json.RawMessage(`1`))
				get(t, x, key, "1")
			}
		})
	}
	wg.Go(func() { _ = x.Each(func(string, json.RawMessage) bool { return true }) })
	wg.Wait()
}

func TestIsSmall(t *testing.T) {
	dir := t.TempDir()
	x := opened(t, dir)
	for i := range 20_000 {
		x.Put(fmt.Sprintf("snapshot/%040d", i), json.RawMessage(`{"added":1,"modified":2,"deleted":3,"bytes":123456}`))
	}
	var size int64
	list, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range list {
		info, err := e.Info()
		must(t, err)
		size += info.Size()
	}
	if size > 40<<20 {
		t.Errorf("%d MB apparent", size>>20)
	}
}

// TestTidy puts more than a table holds, many times over: no table too many is
// left, what was overwritten is given back, and every entry is there, also after
// the next process has opened the index.
func TestTidy(t *testing.T) {
	dir := t.TempDir()
	x := opened(t, dir)
	const keys = 200
	value := func(round, key int) string { return fmt.Sprintf(`"%d/%d/%030000d"`, round, key, 0) }
	rounds := 3
	for round := range rounds {
		for key := range keys {
			x.Put(fmt.Sprint(key), json.RawMessage(value(round, key)))
		}
	}
	var n int
	for deadline := time.Now().Add(patience.Of(time.Minute)); n <= mostTables; n = x.db.Levels()[0].NumTables {
		if time.Now().After(deadline) {
			t.Fatalf("%d tables: nothing to tidy", n)
		}
	}
	must(t, x.Tidy())
	if n := x.db.Levels()[0].NumTables; n > mostTables {
		t.Errorf("%d tables are left", n)
	}
	must(t, x.Close())
	must(t, x.Tidy())
	x = opened(t, dir)
	for key := range keys {
		get(t, x, fmt.Sprint(key), value(rounds-1, key))
	}
}

// TestTidiedByClosing is for processes that never rest.
func TestTidiedByClosing(t *testing.T) {
	dir := t.TempDir()
	for n := range 3 * mostTables {
		x := opened(t, dir)
		if tables := x.db.Levels()[0].NumTables; tables > mostTables+1 {
			t.Fatalf("%d tables after %d processes", tables, n)
		}
		x.Put(fmt.Sprint(n), json.RawMessage(`1`))
		must(t, x.Close())
	}
	x := opened(t, dir)
	for n := range 3 * mostTables {
		get(t, x, fmt.Sprint(n), "1")
	}
}

// badgerOnAFullDisk writes to Badger on a disk that has just been filled up.
func badgerOnAFullDisk(dir, disk string) error {
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithMemTableSize(4 << 20).WithValueThreshold(64 << 10).WithValueLogFileSize(4 << 20))
	if err == nil {
		err = fillDisk(disk)
	}
	for i := 0; err == nil && i < 100_000; i++ {
		err = db.Update(func(txn *badger.Txn) error { return txn.Set(fmt.Appendf(nil, "key%06d", i), make([]byte, 100)) })
	}
	return err
}

// fillDisk leaves no byte on the disk that a directory is on.
func fillDisk(dir string) error {
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		_, err := f.Write(make([]byte, size))
		switch {
		case errors.Is(err, syscall.ENOSPC):
			size /= 2
		case err != nil:
			return fmt.Errorf("fill %s: %w", dir, err)
		}
	}
	return nil
}
