package secretnames

import (
	"slices"
	"strings"
	"testing"
)

// secretFiles are files that hold credentials, and beside each group files of similar
// names that hold none.
var secretFiles = []struct{ secret, plain string }{
	{".env .env.local .env.production .ENV .env-prod .env_prod .env~ .env.bak prod.env deep/down/.env .envrc .envrc.local .envrc.bak",
		".env.example .env.local.example .env.sample .env.template .env.dist .env-example .env_sample example.env sample.env template.env .env.prod.sample .env.prod.template .env.prod.dist a.example.env a.sample.env a.template.env .env_template .env-dist env environment env.go .environment.ts"},
	{".dev.vars .dev.vars.staging .streamlit/secrets.toml config/secrets.yml secrets.yaml secrets.json secrets.json.old",
		".dev.vars.example secrets.go secrets.md chart/templates/secrets.yaml templates/secrets.yml my-secrets.json.md"},
	{"id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk ID_RSA id_rsa.bak id_rsa_work id_rsa_work.bak id_rsa_work~ id_dsa_old id_ecdsa_x id_ed25519_github",
		"id_rsa.pub id_rsa_work.pub id_ed25519_test.go id_rsa_notes.md ids rsa"},
	{"test_rsa host_dsa host_ecdsa host_ed25519 deploy_key deploy-key .ssh/github home/.ssh/work .ssh/host.example",
		"deploy_key.pub test_rsa.pub deploy_key.go .ssh/github.pub .ssh/config .ssh/known_hosts .ssh/known_hosts.old .ssh/authorized_keys ssh/github"},
	{"a.pem private.pem.bak www.example.com.pem server.key www.example.com.key a.key~ a.p12 a.pfx a.pkcs12 AuthKey_1.p8 a.jks a.keystore a.ppk a.kdb a.kdbx",
		"a.pub a.crt a.cer keys key pem a.keys a.pem.md monkey"},
	{".gnupg/private-keys-v1.d/0A secring.gpg login.keychain login.keychain-db office.ovpn android/key.properties keystore.properties .config/sops/age/keys.txt",
		"pubring.gpg keys.txt build.properties a.gpg a.asc"},
	{".netrc _netrc .authinfo .pgpass pgpass.conf .my.cnf .mylogin.cnf .git-credentials .config/git/credentials .htpasswd .msmtprc .esmtprc .fetchmailrc sftp-config.json .ftpconfig .vscode/sftp.json",
		"netrc.go my.cnf credentials .htaccess .vscode/settings.json"},
	{".config/gh/hosts.yml .config/hub .config/glab-cli/config.yml .config/github-copilot/hosts.json .config/github-copilot/apps.json wp-config.php wp-config.php.save credentials.json .credentials.json oauth_creds.json auth.json .codex/auth.json .local/share/opencode/auth.json",
		"hosts.yml ansible/hosts.yml config.yml wp-config-sample.php locales/en/auth.json auth.go apps.json"},
	{".aws/credentials .s3cfg .boto .passwd-s3fs application_default_credentials.json .config/gcloud/credentials.db .config/gcloud/access_tokens.db client_secret_1.json",
		".aws/config credentials.db application_default_credentials.go"},
	{"service-account.json service_account.json service_account-prod.json serviceAccountKey.json firebase-adminsdk-x.json app-firebase-adminsdk-1.json",
		"service-account.example.json service_account.schema.json serviceaccount.example.json service_account.go firebase.json google-services.json"},
	{"local.settings.json azure/accessTokens.json .azure/accessTokens.json .azure/msal_token_cache.json .kube/config kubeconfig kubeconfig.yml kubeconfig.yaml prod.kubeconfig .docker/config.json .dockercfg .dockerconfigjson",
		"settings.json local.settings.go config config.json docker/config.json .git-config kube/config kubeconfig.go"},
	{"terraform.tfvars prod.auto.tfvars a.tfvars.json terraform.tfstate terraform.tfstate.backup terraform.tfstate.d .terraformrc terraform.rc .terraform.d/credentials.tfrc.json",
		"terraform.tfvars.example example.tfvars a.example.tfvars sample.tfvars a.sample.tfvars main.tf .terraform.lock.hcl"},
	{".vault-token .vault_pass .vault_pass.txt .vault-password vault_pass.txt rclone.conf doctl/config.yaml .databrickscfg .snowflake/connections.toml .fly/config.yml com.vercel.cli/auth.json",
		"vault.go config.yaml connections.toml fly.toml vercel.json"},
	{".config/containers/auth.json .snowsql/config .aliyun/config.json .config/hcloud/cli.toml .config/netlify/config.json",
		"src/auth.json src/containers/auth.json snowsql/config netlify/config.json cli.toml hcloud/cli.toml netlify.toml"},
	{".config/stripe/config.toml .circleci/cli.yml .config/filezilla/sitemanager.xml .filezilla/sitemanager.xml filezilla.xml .config/filezilla/recentservers.xml .filezilla/recentservers.xml",
		"stripe/config.toml .circleci/config.yml sitemap.xml res/layout/sitemanager.xml res/layout/recentservers.xml"},
	{".npmrc .yarnrc.yml .pypirc .cargo/credentials .cargo/credentials.toml .gem/credentials .composer/auth.json .config/composer/auth.json .m2/settings.xml settings-security.xml .gradle/gradle.properties",
		"package.json .yarnrc .cargo/config.toml composer.json settings.xml gradle.properties gradle/gradle.properties"},
	{".sentryclirc ngrok.yml .kaggle/kaggle.json .cache/huggingface/token .huggingface/token .erlang.cookie credentials.xml config/initializers/secret_token.rb",
		"token token.go ngrok.go kaggle.py erlang.cookie.md secret_token_spec.rb"},
}

// TestDefaultSecrets tries each built-in pattern on a file that it is for and, of those
// like it, on files that are none.
func TestDefaultSecrets(t *testing.T) {
	t.Parallel()
	patterns := Defaults()
	all := Compile(patterns)
	used := map[string]bool{}
	check := func(files string, want bool) {
		for file := range strings.FieldsSeq(files) {
			slash := strings.LastIndexByte(file, '/')
			dir, name := file[:max(slash, 0)], file[slash+1:]
			if all.Match(dir, name) != want {
				t.Errorf("%s is a secret: %t", file, !want)
			}
			if p := all.last(dir, name); p != nil {
				used[patterns[slices.IndexFunc(all, func(q secretPattern) bool { return q == *p })]] = true
			}
		}
	}
	for _, files := range secretFiles {
		check(files.secret, true)
		check(files.plain, false)
	}
	for _, pattern := range patterns {
		if !used[pattern] {
			t.Errorf("no file tries %q", pattern)
		}
	}
}
