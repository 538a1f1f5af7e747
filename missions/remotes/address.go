package remotes

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// addressOf is what git is given for a remote: a path as the caller means it. What can't be
// one is refused while the user looks at it, and not with the first push in the background.
func (c *Carrier) addressOf(at addresses.CallerDirectory, r missions.AddRemoteRequest) (string, error) {
	url := r.URL
	if url == "" || strings.HasPrefix(url, "-") || strings.ContainsAny(url, "\n\x00") {
		return "", missions.Errorf(missions.KindUsage, "give a directory, HOST:PATH, ssh://… or https://…", "%q is no address of a Git repository", transfer.WithoutPassword(url))
	}
	if scheme, rest, isURL := strings.Cut(url, "://"); isURL {
		// A user of ssh may have a drawn name: AWS CodeCommit's is the id of a public key.
		if saysPassword(rest) || !strings.HasSuffix(scheme, "ssh") && len(secrets.Find([]byte(url))) > 0 {
			return "", missions.Errorf(missions.KindUsage, "leave it out: git asks a credential helper (git help credentials) or ssh-agent",
				"the address of %s says a password or a token, which all who list processes on this machine would see", r.Name)
		}
		if scheme == "file" {
			return url, c.checkPath(at, filePath(rest))
		}
		return url, nil
	}
	if host, _, isHost := strings.Cut(url, ":"); isHost && !strings.Contains(host, "/") {
		return url, nil
	}
	path := projects.AbsolutePath(r.Caller.Cwd, url)
	return path, c.checkPath(at, path)
}

// saysPassword reports whether what follows the scheme of an address says a password.
func saysPassword(rest string) bool {
	authority := transfer.Authority(rest)
	at := strings.LastIndexByte(authority, '@')
	_, password, _ := strings.Cut(authority[:max(at, 0)], ":")
	return password != ""
}

// filePath is the path that git finds in what follows the scheme of file://…: %XX is a byte, and
// a host does not count.
func filePath(rest string) string {
	var decoded strings.Builder
	for {
		before, after, found := strings.Cut(rest, "%")
		decoded.WriteString(before)
		if !found {
			break
		}
		rest = after
		if b, err := hex.DecodeString(after[:min(2, len(after))]); err == nil && len(b) == 1 && b[0] != 0 {
			decoded.WriteByte(b[0])
			rest = after[2:]
		} else {
			decoded.WriteByte('%')
		}
	}
	_, path, _ := strings.Cut(decoded.String(), "/")
	return "/" + path
}

// checkPath refuses a path of this machine where no repository is that can be a remote.
func (c *Carrier) checkPath(at addresses.CallerDirectory, path string) error {
	hint := func(dir string) string { return "git init --bare " + home.ShellQuote(dir) + " makes one" }
	info, err := os.Stat(path)
	if _, withSuffix := os.Stat(path + ".git"); err != nil && withSuffix == nil {
		path += ".git" // as git finds it
		info, err = os.Stat(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return missions.Errorf(missions.KindNotFound, hint(path), "there is no repository %s", path)
	case err != nil:
		return nil // git says more of it
	case !info.IsDir():
		return missions.Errorf(missions.KindUsage, "umbra import "+home.ShellQuote(path)+" brings missions of a file", "%s is a file, and no repository", path)
	case home.IsWithin(projects.ResolveLinks(c.Home.Dir), projects.ResolveLinks(path)):
		return missions.Errorf(missions.KindUsage, "name a repository elsewhere", "%s belongs to Umbra itself", path)
	}
	isBare := home.IsThere(filepath.Join(path, "HEAD")) && home.IsThere(filepath.Join(path, "objects"))
	switch {
	case !isBare && !home.IsThere(filepath.Join(path, ".git")):
		return missions.Errorf(missions.KindNotFound, hint(filepath.Join(path, "missions.git")), "%s is no Git repository", path)
	case at.Repo == nil:
		return nil
	}
	// A linked worktree stands for its repository. If a path can't be read, the error is left
	// to git, which explains it better.
	if there, err := usergit.At(path); err == nil && there.CommonDir != "" && there.CommonDir == at.Repo.CommonDir {
		return missions.Errorf(missions.KindUsage, "git remote -v lists where its code is pushed to; any bare repository will do", "%s is the repository of this project itself", path)
	}
	return nil
}
