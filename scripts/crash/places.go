package main

import (
	"path"
	"regexp"
	"strings"
)

// chance are the parts of a path that come out otherwise each time: ids, in whole or
// in part, and numbers.
var chance = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|[0-9A-Za-z]*[0-9][0-9A-Za-z]*`)

// named by chance, or by what it is about, is what comes after these.
var chances = []struct{ after, is *regexp.Regexp }{
	{regexp.MustCompile(`^objects$`), regexp.MustCompile(`^[0-9a-f]{2}$`)},
	{regexp.MustCompile(`^(projects|reflocks)$`), regexp.MustCompile(`^[^.]`)},
	{regexp.MustCompile(`^(heads|pins|keep)$`), regexp.MustCompile(`^[^.]`)},
}

// temporary begins the names of temporary files of Git's, and of Umbra's in a store.
var temporary = regexp.MustCompile(`^tmp_[a-z]+_`)

// anonymous replaces what comes out otherwise each time in a path.
func anonymous(rel string) string {
	parts := strings.Split(rel, "/")
	for i, part := range parts {
		if begin := temporary.FindString(part); begin != "" {
			parts[i] = begin + "*"
			continue
		}
		parts[i] = chance.ReplaceAllString(part, "*")
		for _, c := range chances {
			if i > 0 && c.after.MatchString(parts[i-1]) && c.is.MatchString(part) {
				parts[i] = "*" + lockSuffix(part)
			}
		}
	}
	return strings.Join(parts, "/")
}

// lockSuffix is what the name of a ref's lock ends with, "" of another.
func lockSuffix(name string) string {
	if strings.HasSuffix(name, ".lock") {
		return ".lock"
	}
	return ""
}

// placeOf is the place of what has a path below a world's directory: of the home, of
// a workspace, in which all files are alike but those that mean something to Umbra
// or whose modes are other ones, or of the user's repository.
func placeOf(rel string) string {
	rel = strings.TrimSuffix(rel, " (deleted)")
	top, rest, _ := strings.Cut(rel, "/")
	switch {
	case strings.HasSuffix(top, "homes"):
		return "home/" + inHome(rest)
	case top == "forks" && rest != "":
		_, rest, _ = strings.Cut(rest, "/")
		return "fork" + inWorkspace(rest)
	case top == "work", top == "talk", strings.HasPrefix(top, "ground-"):
		return "workspace" + inWorkspace(rest)
	}
	return anonymous(rel)
}

// inHome is the place of what has a path below the homes. What was removed lies in
// the trash as it was.
func inHome(rel string) string {
	if parts := strings.SplitN(rel, "/", 5); len(parts) == 5 && parts[1] == "trash" {
		return strings.Join(append([]string{anonymous(strings.Join(parts[:4], "/"))}, inWorkspace(parts[4])), "")
	}
	return anonymous(rel)
}

// inWorkspace is the place of what has a path below a workspace.
func inWorkspace(rel string) string {
	first, rest, _ := strings.Cut(rel, "/")
	switch base := path.Base(rel); {
	case rel == "":
		return ""
	case first == ".git" && rest == "":
		return "/.git"
	case first == ".git" && strings.HasPrefix(rest, "refs/"):
		return "/.git/refs/*" + lockSuffix(rest)
	case first == ".git":
		return "/.git/" + anonymous(rest)
	case strings.HasPrefix(base, scratch):
		return "/" + scratch + "*"
	case rel == ".gitignore":
		return "/" + base
	case base == ".git", base == ".gitignore", base == ".umbraignore":
		return "/*/" + base
	case first == ignored, first == readOnlyDir:
		return "/" + first
	}
	return "/file"
}
