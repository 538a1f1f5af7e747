package local

import (
	"encoding/pem"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// overHTTPS serves repositories as git's own server does, to who has the password.
func overHTTPS(t *testing.T, above string) *httptest.Server {
	t.Helper()
	program, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := filepath.Join(strings.TrimSpace(string(program)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip("git serves no repository over https here: ", err)
	}
	git := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + above, "GIT_HTTP_EXPORT_ALL=1"}, Stderr: &strings.Builder{}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "anna" || password != "sesame" {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		r.Header.Set("X-Remote-User", "anna")
		git := *git
		git.Env = append(git.Env[:len(git.Env):len(git.Env)], "REMOTE_USER=anna") // else nobody pushes
		git.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// trusts has a user's git believe a server, and know the password if there is one.
func (b *testBench) trusts(server *httptest.Server, password string) {
	b.Helper()
	certificate := filepath.Join(b.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	config := "[http]\n\tsslCAInfo = " + certificate + "\n"
	if password != "" {
		config += "[credential]\n\thelper = \"!f() { echo username=anna; echo password=" + password + "; }; f\"\n"
	}
	for path, text := range map[string]string{certificate: string(text), filepath.Join(b.user, ".gitconfig"): config} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// TestRemoteOverHTTPS: a mission is pushed to a server and fetched from it over https, with the
// certificates and credentials of each user's git; who has none is asked nothing.
func TestRemoteOverHTTPS(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	server := overHTTPS(t, filepath.Dir(c.url))
	repository := c.url
	c.git("-C", repository, "config", "http.receivepack", "true")
	c.url = server.URL + "/" + filepath.Base(repository)
	c.addRemote(c.testBench, "web")
	c.write("a.txt", "over https\n")
	c.testBench.mission("work")

	push := missions.PushRequest{Caller: c.caller(), Remote: "web"}
	for name, trusts := range map[string]func(){
		"a certificate that nobody has signed": func() {},
		"no password":                          func() { c.trusts(server, "") },
		"a wrong password":                     func() { c.trusts(server, "wrong") },
	} {
		trusts()
		_, err := c.local.Push(t.Context(), push)
		if err == nil || kindOf(err) != missions.KindFailed || strings.Contains(err.Error(), "wrong@") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.trusts(server, "sesame")
	r, err := c.local.Push(t.Context(), push)
	if err != nil {
		t.Fatal(err)
	}
	c.wants(r, "work", missions.TransferNew)

	o := c.other("web")
	o.trusts(server, "sesame")
	c.wants(o.fetch(), "web/work", missions.TransferNew)
	if got := o.cat("web/work", "a.txt"); got != "over https\n" {
		t.Errorf("it has %q", got)
	}
	c.fsck(repository)
	o.healthy()
}
