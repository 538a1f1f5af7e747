package journal

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// The log of phases has a line for each: phase, time in RFC 3339, and the
// CRC-32 of what is before it. Appending one line and syncing is a transition
// for one fsync, where writing a file anew costs two; a line without its end
// was never acknowledged and does not count.

type phaseLine struct {
	phase Phase
	at    time.Time
}

func (l phaseLine) encode() []byte {
	text := string(l.phase) + " " + l.at.UTC().Format(time.RFC3339Nano)
	return fmt.Appendf(nil, "%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

func decodePhaseLine(line string) (phaseLine, error) {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return phaseLine{}, fmt.Errorf("phase line %q", line)
	}
	at, err := time.Parse(time.RFC3339Nano, fields[1])
	if err != nil {
		return phaseLine{}, fmt.Errorf("phase line %q: %w", line, err)
	}
	decoded := phaseLine{phase: Phase(fields[0]), at: at}
	if !decoded.phase.known() || string(decoded.encode()) != line+"\n" {
		return phaseLine{}, fmt.Errorf("phase line %q", line)
	}
	return decoded, nil
}

// readPhases returns the last phase, and the length of the log that counts.
func readPhases(path string) (last phaseLine, length int64, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return phaseLine{}, 0, err
	}
	content = content[:bytes.LastIndexByte(content, '\n')+1]
	if len(content) == 0 {
		return phaseLine{}, 0, errors.New("log of phases is empty")
	}
	for line := range strings.Lines(string(content)) {
		if last, err = decodePhaseLine(strings.TrimSuffix(line, "\n")); err != nil {
			return phaseLine{}, 0, err
		}
	}
	return last, int64(len(content)), nil
}

// appendPhases adds lines after the part of the log that counts.
func appendPhases(path string, length int64, lines []byte, durable bool) (int64, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	err = func() error {
		if err := file.Truncate(length); err != nil {
			return err
		}
		failpoint.Hit("journal.phase.next")
		if _, err := file.WriteAt(lines, length); err != nil || !durable {
			return err
		}
		failpoint.Hit("journal.phase.written")
		return file.Sync()
	}()
	return length + int64(len(lines)), errors.Join(err, file.Close())
}
