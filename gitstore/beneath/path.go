package beneath

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// CheckPath reports why an operation must not write at path, which may come
// from a fetched, hostile tree: ErrHostilePath or ErrReserved, wrapped with
// the path, or nil.
func CheckPath(path string) error {
	if err := checkForm(path); err != nil {
		return err
	}
	for name := range strings.SplitSeq(path, "/") {
		if IsGitDisguise(name) {
			return fmt.Errorf("%q: %w", path, ErrReserved)
		}
	}
	return nil
}

func checkForm(path string) error {
	if path == "" {
		return fmt.Errorf("empty path: %w", ErrHostilePath)
	}
	if strings.IndexByte(path, 0) >= 0 {
		return fmt.Errorf("%q: %w", path, ErrHostilePath)
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." {
			return fmt.Errorf("%q: %w", path, ErrHostilePath)
		}
	}
	return nil
}

// IsGitDisguise reports whether name, one component of a path, is ".git" or
// could be opened as ".git" by some file system: another case, "git~1", HFS+
// ignorable code points, trailing dots and spaces, an NTFS stream such as
// "::$INDEX_ALLOCATION", or one of those behind a backslash. It covers what
// git fsck reports as hasDotgit (is_hfs_dotgit in git's utf8.c,
// is_ntfs_dotgit in its path.c) and their combinations.
func IsGitDisguise(name string) bool {
	if len(name) < len(".git") || isPlain(name) {
		return false
	}
	for part := range strings.SplitSeq(stripIgnorable(name), `\`) {
		if isDotGit(part) {
			return true
		}
	}
	return false
}

// isPlain tells at once of most names that they disguise nothing.
func isPlain(name string) bool {
	if c := name[0]; c == '.' || c == 'g' || c == 'G' {
		return false
	}
	for i := 0; i < len(name); i++ {
		if name[i] >= utf8.RuneSelf || name[i] == '\\' {
			return false
		}
	}
	return true
}

func isDotGit(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// stripIgnorable removes the code points that HFS+ ignores in comparisons.
func stripIgnorable(name string) string {
	clean := true
	for i := 0; i < len(name); i++ {
		clean = clean && name[i] < utf8.RuneSelf
	}
	if clean {
		return name
	}
	var kept strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if !ignorable(r) {
			kept.WriteString(name[i : i+size])
		}
		i += size
	}
	return kept.String()
}

func ignorable(r rune) bool {
	return r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e ||
		r >= 0x206a && r <= 0x206f || r == 0xfeff
}
