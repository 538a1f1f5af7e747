package jsonlines

import (
	"bytes"
	"io"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// mostEnd is how much of a session's end is read.
const mostEnd = 64 << 10

// End calls f for the lines at the end of a session's file, the last one first, until it
// returns false. It reads so much of the file as nearly every line has its like in. What
// can't be read has no lines.
func End(path string, f func(line []byte) bool) {
	file, info, err := sessions.OpenFile(path)
	if err != nil {
		return
	}
	defer file.Close()
	from := max(0, info.Size()-mostEnd)
	p, err := io.ReadAll(io.NewSectionReader(file, from, info.Size()-from))
	if err != nil {
		return
	}
	for end := len(p); end > 0; {
		begin := bytes.LastIndexByte(p[:end-1], '\n') + 1
		if !f(bytes.TrimSpace(p[begin:end])) {
			return
		}
		end = begin
	}
}

// NewestText is what the newest line of a session has under a key, as far as the file's end
// tells; "" if it does not.
func NewestText(path, key string) (text string) {
	quoted := []byte(`"` + key + `"`)
	End(path, func(line []byte) bool {
		if bytes.Contains(line, quoted) {
			text = jsontext.Text(jsontext.Lookup(line, key))
		}
		return text == ""
	})
	return text
}
