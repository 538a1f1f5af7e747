package checks

import (
	"io"
	"os"
	"strings"
)

// mostTail is how many bytes Tail gives.
const mostTail = 4 << 10

// Tail is the end of a file, whole lines, as far as it can be read.
func Tail(name string) string {
	file, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	isCut := err == nil && info.Size() > mostTail
	if isCut {
		_, _ = file.Seek(-mostTail, io.SeekEnd) // else it is read whole
	}
	text, _ := io.ReadAll(io.LimitReader(file, mostTail))
	if _, rest, found := strings.Cut(string(text), "\n"); isCut && found && rest != "" {
		return strings.ToValidUTF8(rest, "")
	}
	return strings.ToValidUTF8(string(text), "")
}

// LastLine is the last line of a file that is not empty, as far as it can be read.
func LastLine(name string) (last string) {
	for line := range strings.Lines(Tail(name)) {
		if text := strings.TrimSpace(line); text != "" {
			last = text
		}
	}
	return last
}
