//go:build unix

package beneath

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestListingMatchesTheSystem lists directories of odd names, and the same one
// again with memory that held others.
func TestListingMatchesTheSystem(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var l Listing
	for round, count := range []int{0, 1, 3, 40, 2000, 5} {
		dir := t.TempDir()
		for i := range count {
			name := strings.Repeat(string(rune('a'+random.IntN(3))), random.IntN(12)) + fmt.Sprint(i)
			if i%7 == 0 {
				name = "\xff" + strings.Repeat("n", 200) + name
			}
			if i%5 == 0 {
				if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
					t.Fatal(err)
				}
			} else if err := os.Symlink("x", filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		root, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		d, err := root.OpenDir("")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := d.List(&l); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for i := range l.Len() {
			name := string(l.Name(i))
			got = append(got, name)
			st, err := d.LstatListed(&l, i)
			if err != nil {
				t.Fatal(err)
			}
			if want, err := d.Lstat(name); err != nil || st != want {
				t.Errorf("%q is %+v, said to be %+v (%v)", name, want, st, err)
			}
			if kind := l.Kind(i); kind != Unknown && kind != st.Kind() {
				t.Errorf("%q is listed as a %s and is a %s", name, kind, st.Kind())
			}
			if !l.Has(name) || l.Has(name+"-") || l.Has(name[:len(name)-1]+"\x01") {
				t.Errorf("%q is not found where it is, or where it is not", name)
			}
		}
		want, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, want, func(a string, b os.DirEntry) bool { return a == b.Name() }) {
			t.Errorf("round %d: listed %d names, the system lists %d, or in another order", round, len(got), len(want))
		}
		if l.Has(".") || l.Has("") {
			t.Error("the directory lists itself")
		}
		var some Listing
		if err := d.ListSome(&some, 10); err != nil || some.Len() < min(count, 10) || some.Len() == 2000 {
			t.Errorf("some of %d names: %d, %v", count, some.Len(), err)
		}
		d.Close()
		root.Close()
	}
	if l.Size() < listingRoom {
		t.Errorf("a listing that is used says it holds %d bytes", l.Size())
	}
}

func TestLstatListedOfWhatVanished(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gone"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := root.OpenDir("")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var l Listing
	if err := d.List(&l); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.LstatListed(&l, 0); !os.IsNotExist(err) || !strings.Contains(err.Error(), "gone") {
		t.Errorf("the error is %v", err)
	}
}
