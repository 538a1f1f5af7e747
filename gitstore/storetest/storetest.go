// Package storetest makes the repositories that tests of the rooms above gitstore use.
package storetest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// The ids of the project and of two missions.
const (
	Project = "0f8fad5b-d9cb-469f-a165-70867728950e"
	Mission = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
	Other   = "16fd2706-8baf-433b-82eb-8c7fada847da"
)

// New makes a shadow repository.
func New(t testing.TB) *shadow.Store {
	t.Helper()
	s, err := shadow.Create(context.Background(), filepath.Join(t.TempDir(), "shadow.git"), shadow.CreateOptions{ProjectID: Project})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Must fails the test for an error, else it gives the value.
func Must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// NoErr fails the test for an error.
func NoErr(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Signature is an author, n seconds later than that of zero.
func Signature(n int) gitstore.Signature {
	return gitstore.Signature{Name: "A U Thor", Email: "author@example.com", When: time.Unix(1700000000+int64(n), 0).UTC()}
}

// Fsck fails the test for what git finds wrong.
func Fsck(t testing.TB, s *shadow.Store) {
	t.Helper()
	out, err := s.Git(context.Background(), "fsck", "--full", "--strict", "--no-dangling", "--no-progress")
	if err != nil {
		t.Fatalf("fsck: %v\n%s", err, out)
	}
}
