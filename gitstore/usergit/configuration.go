package usergit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Configuration is what matters of the user's Git configuration, as git run in
// the user's environment sees it.
type Configuration struct {
	// Excludes is the user's own excludes file, which need not exist; "" if
	// the user has turned it off.
	Excludes string
	// Attributes are the user's and the system's own attribute files, outside
	// of any repository. They need not exist.
	Attributes []string
	// Name and Email are the author's; without a configured one, those of
	// Umbra itself.
	Name, Email string
	IgnoreCase  bool // core.ignoreCase
	// Files are the files that the answer depends on, absolute and sorted:
	// those that git read, and those it would read if they existed.
	Files []string
	// Git says whether a git program was found. Without one only the
	// repository's own core.ignoreCase is known.
	Git bool
	// Unread is why not all of it could be read, nil if it could be: the rest is
	// what it is without a configuration, or by the user's own files alone.
	Unread error

	values   settings
	onBranch bool // some of it is in force on some branches only
}

// The author where the user has configured none.
const (
	DefaultName  = "Umbra"
	DefaultEmail = "umbra@localhost"
)

// Value is the last value of a key such as "core.autocrlf" (section and name
// in lower case). Only the sections core, index, filter, user and author are
// kept: others may hold credentials.
func (c *Configuration) Value(key string) (string, bool) { return c.values.last(key) }

// MayConceal reports whether a filter is configured whose output may be as long
// as its input. By the index alone a file that was added through it can't be told
// from one whose bytes are the blob's, once the attributes say so no longer. The
// filters of Git LFS and git-crypt always change the length.
func (c *Configuration) MayConceal() bool {
	for key := range c.values {
		name, ok := strings.CutPrefix(key, "filter.")
		driver, kind := name, ""
		if at := strings.LastIndexByte(name, '.'); at >= 0 {
			driver, kind = name[:at], name[at+1:]
		}
		if ok && (kind == "clean" || kind == "process") && driver != "lfs" && driver != "git-crypt" {
			return true
		}
	}
	return false
}

// Patience is what `git config --list` is given: an included file may be one that
// never ends.
const Patience = 10 * time.Second

// ReadConfiguration runs `git config --list` at the repository's top level; in
// dir without a repository (nil), only the user's and the system's count. Env is the user's environment, as of
// os.Environ; what would point git elsewhere (GIT_DIR and its like) or inject
// settings is dropped. A missing git is no error; what a git that fails says is in
// Unread, as is one that takes longer than patience. An error means that ctx is done.
func ReadConfiguration(ctx context.Context, dir string, repository *Repository, env []string, patience time.Duration) (*Configuration, error) {
	e := environment(env)
	at := "/" // where git finds no repository that this package does not take for one
	if repository != nil {
		// Where git goes itself before it reads relative paths.
		if dir = repository.TopLevel; dir == "" {
			dir = repository.GitDir
		}
		at = dir
	}
	c := &Configuration{values: settings{}}
	git := e.find("git")
	if git == "" {
		c.Unread = c.readWithoutGit(repository)
	} else {
		c.Git = true
		if c.Unread = c.run(ctx, git, at, e, patience); c.Unread != nil && at != "/" {
			_ = c.run(ctx, git, "/", e, patience) // what is the user's own may be whole
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if repository != nil && c.Unread == nil {
		c.Unread = repository.Unread
	}
	c.addFiles(e, repository)
	c.IgnoreCase = c.values.boolean("core.ignorecase")
	c.Name = c.author("name", DefaultName)
	c.Email = c.author("email", DefaultEmail)
	c.Excludes = c.path(e, dir, "core.excludesFile", e.xdg("ignore"))
	c.addAttributes(e, dir)
	return c, nil
}

// path is a setting of Git's type "path"; one that leads nowhere is noted, and is
// as if it were not set.
func (c *Configuration) path(e environment, dir, key, otherwise string) string {
	value, ok := c.values.last(strings.ToLower(key))
	if !ok {
		return otherwise
	}
	path, err := e.expand(value, dir)
	if err != nil {
		c.Unread = errors.Join(c.Unread, fmt.Errorf("%s: %w", key, err))
		return otherwise
	}
	return path
}

// addAttributes lists the attribute files. The system's stands beside the
// system's configuration.
func (c *Configuration) addAttributes(e environment, dir string) {
	if own := c.path(e, dir, "core.attributesFile", e.xdg("attributes")); own != "" {
		c.Attributes = append(c.Attributes, own)
	}
	c.Attributes = append(c.Attributes, "/etc/gitattributes")
	for _, file := range c.Files {
		if beside := filepath.Join(filepath.Dir(file), "gitattributes"); filepath.Base(file) == "gitconfig" && beside != "/etc/gitattributes" {
			c.Attributes = append(c.Attributes, beside)
		}
	}
}

func (c *Configuration) run(ctx context.Context, git, dir string, e environment, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, git, "config", "--list", "-z", "--show-origin")
	cmd.Dir = dir
	cmd.Env = e.forGit()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out := &settingsOutput{}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		if said := strings.TrimSpace(stderr.String()); said != "" {
			err = errors.New(said)
		}
		return fmt.Errorf("git config --list: %w", cmp.Or(out.full, err)) // git says of it that its pipe is broken
	}
	for rest := out.text.String(); rest != ""; {
		var origin, setting string
		origin, rest, _ = strings.Cut(rest, "\x00")
		setting, rest, _ = strings.Cut(rest, "\x00")
		path, ok := strings.CutPrefix(origin, "file:")
		if ok {
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			if n := len(c.Files); n == 0 || c.Files[n-1] != path {
				c.Files = append(c.Files, path)
			}
		}
		key, value, ok := strings.Cut(setting, "\n")
		if !ok {
			value = "true"
		}
		c.addIncluded(e, key, value, filepath.Dir(path))
		c.keep(key, value)
	}
	return nil
}

// settingsOutput is what git says of the settings: not more than fits, however long the
// files are.
type settingsOutput struct {
	text strings.Builder
	full error // nil while all fits
}

func (o *settingsOutput) Write(p []byte) (int, error) {
	if o.text.Len()+len(p) > 2*MaxConfig { // each setting names its file
		o.full = fmt.Errorf("there are more than %d bytes of settings", 2*MaxConfig)
		return 0, o.full
	}
	return o.text.Write(p)
}

// addIncluded adds a file that a setting includes, now or under a condition that may
// come true, whether or not it is there. HEAD is the only condition that changes.
func (c *Configuration) addIncluded(e environment, key, value, dir string) {
	conditional := strings.HasPrefix(key, "includeif.") && strings.HasSuffix(key, ".path")
	if key != "include.path" && !conditional {
		return
	}
	if path, err := e.expand(value, dir); err == nil && path != "" {
		c.Files = append(c.Files, path)
	}
	c.onBranch = c.onBranch || strings.HasPrefix(key, "includeif.onbranch:")
}

func (c *Configuration) keep(key, value string) {
	section, _, _ := strings.Cut(key, ".")
	switch section {
	case "core", "index", "filter", "user", "author":
		c.values[key] = append(c.values[key], value)
	}
}

func (c *Configuration) readWithoutGit(repository *Repository) error {
	if repository == nil {
		return nil
	}
	own, err := readSettings(filepath.Join(repository.CommonDir, "config"))
	if value, ok := own.last("core.ignorecase"); ok {
		c.keep("core.ignorecase", value)
	}
	return err
}

// addFiles adds the files that git may not have read for being absent.
func (c *Configuration) addFiles(e environment, repository *Repository) {
	if global := e.get("GIT_CONFIG_GLOBAL"); global != "" {
		c.Files = append(c.Files, global)
	} else {
		if home := e.get("HOME"); home != "" {
			c.Files = append(c.Files, filepath.Join(home, ".gitconfig"))
		}
		if path := e.xdg("config"); path != "" {
			c.Files = append(c.Files, path)
		}
	}
	if repository != nil {
		for _, file := range []struct{ dir, name string }{{repository.CommonDir, "config"}, {repository.GitDir, "config.worktree"}} {
			if file.dir != "" {
				c.Files = append(c.Files, filepath.Join(file.dir, file.name))
			}
		}
	}
	if repository != nil && repository.GitDir != "" && c.onBranch {
		c.Files = append(c.Files, filepath.Join(repository.GitDir, "HEAD"))
	}
	slices.Sort(c.Files)
	c.Files = slices.Compact(c.Files)
}

// author is author.name or user.name, without what would break a commit's
// header.
func (c *Configuration) author(name, otherwise string) string {
	for _, section := range []string{"author.", "user."} {
		value, _ := c.values.last(section + name)
		value = strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || r == '<' || r == '>' {
				return -1
			}
			return r
		}, value))
		if value != "" {
			return value
		}
	}
	return otherwise
}

// environment is a list of NAME=VALUE; of two, the last counts.
type environment []string

func (e environment) get(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(e[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// forGit keeps of git's variables only those that say where the user's own
// configuration is. That drops GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE,
// GIT_CONFIG, GIT_CONFIG_COUNT, GIT_CONFIG_PARAMETERS and their like, which are
// set for instance inside a Git hook (H18).
func (e environment) forGit() []string {
	var kept []string
	for _, setting := range e {
		name, _, _ := strings.Cut(setting, "=")
		switch name {
		case "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH":
		case "LC_ALL", "LANGUAGE":
			continue
		default:
			if strings.HasPrefix(name, "GIT_") {
				continue
			}
		}
		kept = append(kept, setting)
	}
	return append(kept, "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
}

// find looks a program up on the environment's PATH, absolute directories
// only; "" if it is not there.
func (e environment) find(program string) string {
	for _, dir := range filepath.SplitList(e.get("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path
		}
	}
	return ""
}

// xdg is a file of Git's in the user's configuration directory, "" if that is
// unknown.
func (e environment) xdg(name string) string {
	if dir := e.get("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", name)
	}
	if home := e.get("HOME"); home != "" {
		return filepath.Join(home, ".config", "git", name)
	}
	return ""
}

// expand reads a value of Git's type "path": "~/" and "~user/" are home
// directories, ":(optional)" may precede, and a relative one is relative to
// dir.
func (e environment) expand(value, dir string) (string, error) {
	value = strings.TrimPrefix(value, ":(optional)")
	if value == "" {
		return "", nil
	}
	if rest, ok := strings.CutPrefix(value, "~"); ok {
		name, rest, _ := strings.Cut(rest, "/")
		home := e.get("HOME")
		if name != "" {
			u, err := user.Lookup(name)
			if err != nil {
				return "", err
			}
			home = u.HomeDir
		}
		if home == "" {
			return "", errors.New("HOME is not set")
		}
		return filepath.Join(home, rest), nil
	}
	if !filepath.IsAbs(value) {
		value = filepath.Join(dir, value)
	}
	return filepath.Clean(value), nil
}
