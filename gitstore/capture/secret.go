package capture

import (
	"bytes"
	"io"
)

// isSecret tells whether a regular file of a directory is a secret. One that has the
// name of a key, and is a ZIP archive (APPNOTE.TXT, 4.3.7), is a presentation.
func (w *walker) isSecret(s *scene, name string) bool {
	return !w.rules.secrets.MatchesKey(s.at.path, name) || !s.begins(name, "PK\x03\x04")
}

// begins tells whether a file begins with a text; not if it can't be read.
func (s *scene) begins(name, text string) bool {
	f, _, err := s.dir.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(text))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, []byte(text))
}
