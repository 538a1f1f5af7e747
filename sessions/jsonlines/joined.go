package jsonlines

import (
	"bytes"
	"slices"
)

// joined reports whether an absolute path can start with the slash at b[i] although a
// letter or a sign stands before it: behind a flag of a compiler (-I/a/b), behind an @
// that names a file, or as a diff has it (+/a/b at the start of a line, --- a/a/b).
func joined(b []byte, i int) bool {
	for escapes := 0; escapes < 2 && i > 0 && b[i-1] == '\\'; escapes++ {
		i-- // the slash's own escape
	}
	return i > 0 && (behindFlag(b, i) || isMention(b, i) || behindSign(b, i) || behindSide(b, i))
}

// longFlags are those of more than one letter that compilers take a directory behind
// without a space (GCC's manual, Directory Options; clang's).
var longFlags = []string{"isystem", "iquote", "idirafter", "iframework", "isysroot"}

func behindFlag(b []byte, i int) bool {
	letter := func(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
	begin := i
	for begin > 0 && letter(b[begin-1]) {
		begin--
	}
	flag := string(b[begin:i])
	if len(flag) != 1 && !slices.Contains(longFlags, flag) {
		return false
	}
	return begin > 0 && b[begin-1] == '-' && startsPath(b, begin-1)
}

// behindSign reports whether a line of a diff begins with the sign at b[i-1], and goes
// on at b[i].
func behindSign(b []byte, i int) bool {
	if b[i-1] != '+' && b[i-1] != '-' {
		return false
	}
	head := b[:i-1]
	return len(head) == 0 || bytes.HasSuffix(head, []byte{'"'}) || endsLine(head)
}

func endsLine(b []byte) bool {
	return bytes.HasSuffix(b, []byte{'\n'}) || bytes.HasSuffix(b, []byte(`\n`))
}

// farthest is how long a file's name in the first line of a diff may be.
const farthest = 8 << 10

// behindSide reports whether b[i-1] is the letter by which a diff tells the two sides
// of a file apart: Git's a and b, before whatever it was given as a name.
func behindSide(b []byte, i int) bool {
	if b[i-1] != 'a' && b[i-1] != 'b' {
		return false
	}
	head := b[max(0, i-1-farthest) : i-1]
	for _, mark := range []string{"--- ", "+++ ", "diff --git "} {
		if bytes.HasSuffix(head, []byte(mark)) {
			return true
		}
	}
	begin := bytes.LastIndex(head, []byte("diff --git a"))
	return begin >= 0 && bytes.HasSuffix(head, []byte{' '}) && !bytes.ContainsRune(head[begin:], '\n') && !bytes.Contains(head[begin:], []byte(`\n`))
}
