package secrets

import (
	"bytes"
	"slices"
)

// isPath reports what has the shape of a path. Of what is drawn in base64 one of 64
// begins as a path does, and has about one more slash: its parts tell which it is. A
// path may have a part that is drawn, but begins with names, is made of them for the
// most part, or has what base64 has not.
func isPath(value []byte) bool {
	rest, rooted := belowRoot(value[:min(len(value), mostJudged)])
	absolute := value[0] == '/' || value[0] == '.'
	parts := bytes.Split(rest, []byte("/"))
	switch {
	case rooted || value[0] == '.' && !isRandom(value, 3):
		return true
	case !absolute && len(parts) == 1:
		return false // a word
	case hasEnding(value):
		return true
	}
	all, names := 0, 0
	for _, part := range parts {
		all += len(part)
		if isName(part) {
			names += len(part)
		} else if len(part) >= 8 && bytes.ContainsAny(part, "+=") && !bytes.ContainsAny(part, notBase64) {
			return false
		}
	}
	switch {
	case !absolute:
		return names == all // nothing else tells it from what is drawn
	case 2*names >= all:
		return true
	case len(parts) == 1:
		return false
	}
	begins := isPlain(parts[0]) || isName(parts[1]) && (isName(parts[0]) || len(parts[0]) == 1)
	return begins || bytes.ContainsAny(rest, notBase64)
}

// notBase64 is often in paths, and never in base64.
const notBase64 = "-_."

// belowRoot is a value without what paths begin with; rooted if nothing else begins so:
// ./ ../ ~/ C:/
func belowRoot(value []byte) (rest []byte, rooted bool) {
	value = bytes.TrimPrefix(value, []byte("@")) // what is in the file, as of curl
	root, rest, slash := bytes.Cut(value, []byte("/"))
	drive := len(root) == 2 && root[1] == ':' && kindOf(root[0]) != 0
	if slash && len(root) > 0 && (drive || len(bytes.Trim(root, ".")) == 0 || root[0] == '~') {
		return rest, true
	}
	return bytes.TrimLeft(value, "/."), false
}

// isName reports what may be the name of a file or directory: words and numbers.
func isName(part []byte) bool {
	if bytes.ContainsAny(part, notBase64+"@: ") {
		return !isRandom(part, 3)
	}
	letters := bytes.ReplaceAll(bytes.TrimRight(part, digits), []byte("++"), nil) // c++
	return len(part) >= 2 && isWords(letters) || len(part) <= 4 && isNumeronym(part)
}

const digits = "0123456789"

// isPlain reports a name that is seldom drawn by chance: a word, a number, or both.
func isPlain(part []byte) bool {
	letters := bytes.TrimRight(part, digits)
	if len(letters) > 3 && isUpper(letters[0]) {
		letters = letters[1:]
	}
	long := len(letters) >= 3 || len(letters) == 0 && len(part) >= 3
	return (long || string(letters) == "v") && !slices.ContainsFunc(letters, func(c byte) bool { return !isLower(c) })
}

// isWords reports words written as one, as are src, DATA, myApp and XMLParser; also none.
func isWords(letters []byte) bool {
	for i := 0; i < len(letters); {
		begin := i
		for i < len(letters) && isUpper(letters[i]) {
			i++
		}
		capitals := i - begin
		for i < len(letters) && isLower(letters[i]) {
			i++
		}
		small, last := i-begin-capitals, i == len(letters)
		switch {
		case i == begin: // no letter
			return false
		case capitals == 0 && (small > 1 || last): // the first one
		case small == 0 && last && capitals > 2:
		case small < 2 || capitals == 2:
			return false
		}
	}
	return true
}

// isNumeronym reports what is written as k8s and a11y are.
func isNumeronym(part []byte) bool {
	last := len(part) - 1
	return last >= 2 && isLower(part[0]) && isLower(part[last]) && len(bytes.Trim(part[1:last], digits)) == 0
}

// hasEnding reports what ends as the names of files do.
func hasEnding(value []byte) bool {
	const most = 5
	last := value[max(1, len(value)-most-1):]
	ending := last[bytes.LastIndexByte(last, '.')+1:]
	return len(ending) < len(last) && len(ending) > 0 && isLower(ending[0]) && !slices.ContainsFunc(ending, func(c byte) bool { return !isLower(c) && !isDigit(c) })
}
