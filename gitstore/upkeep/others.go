package upkeep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// othersFile says which paths others than the mission changed in what was pruned: for each
// boundary its commit, a space and the number of paths, and then each path, all ended by a
// zero byte. Nothing else can tell once the snapshots are gone.
const othersFile = "umbra/others"

// OthersReader knows what was read of a repository's othersFile, so that who walks past many
// boundaries reads it once. The zero value is ready; any goroutine may use it.
type OthersReader struct {
	mu   sync.Mutex
	read os.FileInfo // the file that was read last, nil if there was none
	all  map[gitstore.ID][]string
}

// Others are the paths that others than the mission changed in the snapshots that were
// pruned before a commit. It is nil if nobody knows. The caller does not change them.
func (r *OthersReader) Others(s *shadow.Store, after gitstore.ID) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, err := os.Stat(filepath.Join(s.Dir(), othersFile)) // each change makes another file
	if errors.Is(err, fs.ErrNotExist) {
		r.read, r.all = nil, nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if r.read != nil && os.SameFile(r.read, now) && r.read.ModTime().Equal(now.ModTime()) && r.read.Size() == now.Size() {
		return r.all[after], nil
	}
	all, err := readOthers(s)
	if err != nil {
		return nil, err
	}
	r.read, r.all = now, all
	return all[after], nil
}

func readOthers(s *shadow.Store) (map[gitstore.ID][]string, error) {
	data, err := disk.ReadFile(filepath.Join(s.Dir(), othersFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := parseOthers(data)
	if err != nil {
		return nil, nil // damaged, it says nothing: without it others are asked about, and nothing is lost
	}
	return all, nil
}

func parseOthers(data []byte) (map[gitstore.ID][]string, error) {
	all := map[gitstore.ID][]string{}
	words := strings.Split(string(data), "\x00")
	if last := len(words) - 1; words[last] != "" {
		return nil, errors.New("it ends in the middle of a word")
	}
	for words = words[:len(words)-1]; len(words) > 0; {
		commit, count, _ := strings.Cut(words[0], " ")
		id, err := gitstore.ParseID(commit)
		n, wrong := strconv.Atoi(count)
		if err = errors.Join(err, wrong); err != nil {
			return nil, err
		}
		if n < 0 || n >= len(words) {
			return nil, fmt.Errorf("%d paths are to follow %s", n, id.Short())
		}
		all[id], words = slices.Clone(words[1:n+1]), words[n+1:]
	}
	return all, nil
}

func encodeOthers(all map[gitstore.ID][]string) []byte {
	var text bytes.Buffer
	for _, id := range slices.SortedFunc(maps.Keys(all), gitstore.ID.Compare) {
		fmt.Fprintf(&text, "%s %d\x00", id, len(all[id]))
		for _, path := range all[id] {
			text.WriteString(path + "\x00")
		}
	}
	return text.Bytes()
}

// NoteOthers notes what is known of boundaries that are about to be made, and forgets those
// that are none any more, and those whose paths are nil. The caller holds the project's lock, exclusive.
func NoteOthers(ctx context.Context, s *shadow.Store, known map[gitstore.ID][]string) error {
	have, err := readOthers(s)
	if err == nil {
		err = s.Reread()
	}
	if err != nil {
		return err
	}
	next := maps.Clone(have)
	if next == nil {
		next = map[gitstore.ID][]string{}
	}
	maps.DeleteFunc(next, func(id gitstore.ID, _ []string) bool { return !s.Bounded(id) })
	maps.Copy(next, known)
	maps.DeleteFunc(next, func(_ gitstore.ID, paths []string) bool { return paths == nil })
	if maps.EqualFunc(have, next, slices.Equal) {
		return nil
	}
	return s.Rewrite(ctx, othersFile, func() ([]byte, error) { return encodeOthers(next), nil })
}
