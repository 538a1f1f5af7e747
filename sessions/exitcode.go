package sessions

import "bytes"

// ExitCode is the number that follows a mark in what an agent says of a command's result,
// "" if the mark is not there.
func ExitCode(result []byte, mark string) string {
	_, told, ok := bytes.Cut(result, []byte(mark))
	if !ok {
		return ""
	}
	end := bytes.IndexFunc(told, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(told)
	}
	return string(told[:end])
}
