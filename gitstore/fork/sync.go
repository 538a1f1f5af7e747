package fork

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/durable"
)

// Sync makes forks durable: what was written for them into their directories
// and into the user's repository. Ignored files of a fork exist nowhere else, so
// nobody is told of a fork before this. It returns how many file systems it
// waited for, each once, however many forks and files there are.
func Sync(made []*Made) (waited int, err error) {
	seen := map[uint64]bool{}
	for _, dir := range synced(made) {
		var st unix.Stat_t
		if err := unix.Stat(dir, &st); err != nil {
			return waited, fmt.Errorf("make %s durable: %w", dir, err)
		}
		device := uint64(st.Dev)
		if durable.WholeFileSystem && seen[device] {
			continue
		}
		seen[device] = true
		if err := durable.Tree(dir); err != nil {
			return len(seen), fmt.Errorf("make %s durable: %w", dir, err)
		}
	}
	return len(seen), nil
}

// synced lists the directories that forks were written into.
func synced(made []*Made) []string {
	var dirs []string
	for _, m := range made {
		dirs = append(dirs, m.Document.Directory)
		if m.Document.CommonDir != "" && durable.WholeFileSystem {
			dirs = append(dirs, m.Document.CommonDir)
		}
	}
	return dirs
}
