package fork

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// outwait waits until no git process runs that has the operation in its
// command line. A fork that was killed may have left one, which goes on making
// what is to be taken away; killing it could leave its locks in the user's
// repository.
func outwait(ctx context.Context, operation string) error {
	ctx, cancel := context.WithTimeout(ctx, outlive)
	defer cancel()
	for n := 1; ; n++ {
		if !running(operation) {
			return nil
		}
		if err := pause(ctx, min(n, 20)); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return errors.New("a git process of the fork still runs")
			}
			return err
		}
	}
}

func running(operation string) bool {
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, p := range processes {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", p.Name(), "cmdline"))
		if err == nil && bytes.Contains(line, []byte("umbra.operation="+operation)) {
			return true
		}
	}
	return false
}
