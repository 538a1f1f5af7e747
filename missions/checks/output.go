package checks

import (
	"bufio"
	"io"
	"os"
	"strings"
)

// LastLine is the last line of a file that is not empty, as far as it can be read.
func LastLine(name string) (last string) {
	file, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	const end = 4 << 10
	if info, err := file.Stat(); err == nil && info.Size() > end {
		_, _ = file.Seek(-end, io.SeekEnd) // else it is read whole
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			last = text
		}
	}
	return last
}
