package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// PutPrivate stores what is known of a mission in this home alone, any JSON, durably:
// when it returns, no power cut takes it away. On an error what was there is intact.
func (j *Journal) PutPrivate(mission string, doc json.RawMessage) error {
	path, err := j.PrivateFile(mission)
	if err != nil {
		return err
	}
	line, err := encodeLine(doc)
	if err != nil {
		return fmt.Errorf("private document of %s: %w", mission, err)
	}
	return WriteBelow(filepath.Dir(j.dir), path, 0o600, line)
}

// Private returns what PutPrivate has stored for a mission; one that has nothing is
// fs.ErrNotExist, what is not whole a *DamagedError.
func (j *Journal) Private(mission string) (json.RawMessage, error) {
	path, err := j.PrivateFile(mission)
	if err != nil {
		return nil, err
	}
	content, err := disk.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("private document of %s: %w", mission, err)
	}
	doc, ok := decodeLine(bytes.Trim(content, "\n"))
	if !ok {
		return nil, &DamagedError{Path: path, Err: errors.New("its checksum is not that of its content")}
	}
	return doc, nil
}

// DropPrivate removes it durably, and what MoveAside has moved of it; that there is
// nothing is no error.
func (j *Journal) DropPrivate(mission string) error {
	files, err := j.PrivateFiles(mission)
	for _, file := range files {
		err = errors.Join(err, Remove(file))
	}
	if err != nil {
		return fmt.Errorf("drop the private document of %s: %w", mission, err)
	}
	return nil
}

// TouchPrivate gives the files that hold it the time of now. It needs no room on the disk.
func (j *Journal) TouchPrivate(mission string) error {
	files, err := j.PrivateFiles(mission)
	for _, file := range files {
		err = errors.Join(err, os.Chtimes(file, j.now(), j.now()))
	}
	if err != nil {
		return fmt.Errorf("touch the private document of %s: %w", mission, err)
	}
	return nil
}

// PrivateMissions returns the ids of the missions that have one, sorted.
func (j *Journal) PrivateMissions() ([]string, error) {
	return uuidNames(filepath.Join(j.dir, privateDir), "")
}

// PrivateFile is the file that holds it. It may not be there.
func (j *Journal) PrivateFile(mission string) (string, error) {
	if !isUUID(mission) {
		return "", fmt.Errorf("mission %q: %w", mission, ErrBadID)
	}
	return filepath.Join(j.dir, privateDir, mission), nil
}

// PrivateFiles are the files that hold it and are there: the document, and what MoveAside
// has moved of it.
func (j *Journal) PrivateFiles(mission string) (files []string, err error) {
	path, err := j.PrivateFile(mission)
	if err != nil {
		return nil, err
	}
	if _, err = os.Lstat(path); err == nil {
		files = append(files, path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	dir, aside, err := j.Aside()
	for _, name := range aside {
		// An operation has an id of its own, and the name of a log an ending.
		if number, ok := strings.CutPrefix(name, mission+"-"); ok && strings.Trim(number, "0123456789") == "" {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files, err
}
