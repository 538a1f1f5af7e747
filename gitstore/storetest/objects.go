package storetest

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// InPack is a number of objects that a batch makes a pack of; a few stay loose.
const InPack = 64

// RemoveObject removes a loose object.
func RemoveObject(t testing.TB, s *shadow.Store, id gitstore.ID) {
	t.Helper()
	NoErr(t, os.Remove(LooseFile(s.Dir(), id)))
}

// NoLeftovers fails the test for what a killed process may leave.
func NoLeftovers(t *testing.T, s *shadow.Store) {
	t.Helper()
	err := filepath.WalkDir(s.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !e.IsDir() && (strings.HasPrefix(e.Name(), "tmp_") || strings.HasSuffix(path, ".lock") || strings.Contains(path, "/umbra/") && e.Name() != "pruned" && e.Name() != "others" || unindexed(path)) {
			t.Errorf("left over: %s", path)
		}
		return nil
	})
	NoErr(t, err)
}

// LooseFile is where a repository keeps a loose object.
func LooseFile(dir string, id gitstore.ID) string {
	return filepath.Join(dir, "objects", id.String()[:2], id.String()[2:])
}

// LoosePaths lists the loose object files.
func LoosePaths(t testing.TB, s *shadow.Store) []string {
	t.Helper()
	paths := Must[[]string](t)(filepath.Glob(filepath.Join(s.Dir(), "objects", "??", "*")))
	return paths
}

// unindexed tells of a pack that has no index.
func unindexed(path string) bool {
	base, is := strings.CutSuffix(path, ".pack")
	_, err := os.Lstat(base + ".idx")
	return is && err != nil
}

// Numbered is an id of its own for each number.
func Numbered(n int) gitstore.ID {
	return gitstore.HashObject(gitstore.TypeBlob, binary.BigEndian.AppendUint32(nil, uint32(n)))
}

// FakeGit puts a git first in the PATH of a command that leaves a program behind,
// which writes its process id to a file.
func FakeGit(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	NoErr(t, os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+script), 0o700))
	return dir
}

// Flipped gives data with one byte inverted.
func Flipped(data []byte, at int) []byte {
	data = slices.Clone(data)
	data[at] ^= 1
	return data
}

// Rewrite replaces a file by another.
func Rewrite(t *testing.T, path string, data []byte) {
	t.Helper()
	NoErr(t, errors.Join(os.Remove(path), os.WriteFile(path, data, 0o444)))
}
