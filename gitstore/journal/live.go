package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/uuid"
)

// longestLive is the length at which a log of states is written anew, with
// the last one alone.
const longestLive = 256 << 10

// PutLive stores the state of a live mission, any JSON: readers and killed
// processes see the old or the new, a power cut may lose both.
func (j *Journal) PutLive(mission string, state json.RawMessage) error {
	return j.putLive(mission, state, false)
}

// ReplaceLive is PutLive, and what the states before said is in the file no more.
func (j *Journal) ReplaceLive(mission string, state json.RawMessage) error {
	return j.putLive(mission, state, true)
}

func (j *Journal) putLive(mission string, state json.RawMessage, alone bool) error {
	log, err := j.liveLog(mission)
	if err != nil {
		return err
	}
	if !json.Valid(state) {
		return fmt.Errorf("live state of %s: not JSON", mission)
	}
	defer j.changes.Add(1)
	err = log.locked(func(file *os.File) error {
		if alone || longerThan(file, longestLive) {
			return log.rewrite([]any{state})
		}
		return appendTo(file, state)
	})
	if err != nil {
		return fmt.Errorf("live state of %s: %w", mission, err)
	}
	return nil
}

// Live returns the state of a mission; one that has none is fs.ErrNotExist,
// one of which nothing can be read a *DamagedError. It waits for no one.
func (j *Journal) Live(mission string) (json.RawMessage, error) {
	log, err := j.liveLog(mission)
	if err != nil {
		return nil, err
	}
	state, bad, err := log.last()
	switch {
	case err != nil:
		return nil, err
	case state != nil:
		return state, nil
	case bad > 0:
		return nil, &DamagedError{Path: log.path, Err: fmt.Errorf("%d broken lines", bad)}
	}
	return nil, fmt.Errorf("live state of %s: %w", mission, fs.ErrNotExist)
}

// DeleteLive removes the state of a mission; that it has none is no error.
func (j *Journal) DeleteLive(mission string) error {
	log, err := j.liveLog(mission)
	if err != nil {
		return err
	}
	defer j.changes.Add(1)
	return log.remove()
}

// LiveChanges counts how often this process has changed the state of a live mission.
func (j *Journal) LiveChanges() uint64 { return j.changes.Load() }

// LiveMissions returns the ids of the missions that have a state, sorted.
func (j *Journal) LiveMissions() ([]string, error) {
	return uuidNames(filepath.Join(j.dir, liveDir), logSuffix)
}

// LiveFile is the file that holds the state of a mission, for those who look
// whether it has changed. It may not be there.
func (j *Journal) LiveFile(mission string) (string, error) {
	log, err := j.liveLog(mission)
	return log.path, err
}

const logSuffix = ".log"

func (j *Journal) liveLog(mission string) (lineLog, error) {
	if !uuid.Is(mission) {
		return lineLog{}, fmt.Errorf("mission %q: %w", mission, ErrBadID)
	}
	return lineLog{base: filepath.Dir(j.dir), path: filepath.Join(j.dir, liveDir, mission+logSuffix), patience: j.patience, chunks: &j.chunks}, nil
}

func uuidNames(dir, suffix string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, entry := range entries {
		if id, ok := strings.CutSuffix(entry.Name(), suffix); ok && uuid.Is(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
