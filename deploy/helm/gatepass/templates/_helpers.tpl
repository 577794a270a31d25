{{- define "gatepass.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "gatepass.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gatepass.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "gatepass.selectorLabels" . }}
{{- end -}}

{{- define "gatepass.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "gatepass.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "gatepass.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- define "gatepass.replicas" -}}
{{- if .Values.autoscaling.enabled -}}{{ .Values.autoscaling.minReplicas }}{{- else -}}{{ .Values.replicaCount }}{{- end -}}
{{- end -}}

{{/* How pods are replaced. `auto` rolls while the image stays the same: two releases do not share a database. */}}
{{- define "gatepass.strategy" -}}
{{- $running := lookup "apps/v1" "Deployment" .Release.Namespace (include "gatepass.fullname" .) | default dict -}}
{{- $images := list -}}
{{- range dig "spec" "template" "spec" "containers" list $running -}}
{{- $images = append $images .image -}}
{{- end -}}
{{- if .Values.persistence.enabled -}}Recreate
{{- else if ne .Values.strategy.type "auto" -}}{{ .Values.strategy.type }}
{{- else if has (include "gatepass.image" .) $images -}}RollingUpdate
{{- else -}}Recreate
{{- end -}}
{{- end -}}

{{/* Refuses values that cannot work, before anything is installed. */}}
{{- define "gatepass.check" -}}
{{- if not .Values.publicUrl -}}{{- fail "publicUrl is required: the https origin that users and providers see" -}}{{- end -}}
{{- if not .Values.userVerifier -}}{{- fail "userVerifier is required: the URL of your page, oidc:<issuer>, or open" -}}{{- end -}}
{{- if not .Values.masterKey.existingSecret -}}{{- fail "masterKey.existingSecret is required: the secret with the master key" -}}{{- end -}}
{{- if and .Values.dashboard.issuer (not (and .Values.dashboard.clientId .Values.dashboard.roles)) -}}{{- fail "dashboard.issuer needs dashboard.clientId, and dashboard.roles that say who may log in" -}}{{- end -}}
{{- if .Values.persistence.enabled -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicaCount) 1) -}}{{- fail "persistence is a SQLite file of one replica: set replicaCount to 1, or use PostgreSQL (database.existingSecret)" -}}{{- end -}}
{{- if .Values.database.existingSecret -}}{{- fail "persistence and database.existingSecret exclude each other: SQLite or PostgreSQL" -}}{{- end -}}
{{- else if not .Values.database.existingSecret -}}{{- fail "database.existingSecret is required, or persistence.enabled for a SQLite file" -}}
{{- end -}}
{{- end -}}

{{/* The environment of the server and of the jobs that work on its database. */}}
{{- define "gatepass.env" -}}
- name: GATEPASS_PUBLIC_URL
  value: {{ .Values.publicUrl | quote }}
- name: GATEPASS_USER_VERIFIER
  value: {{ .Values.userVerifier | quote }}
- name: GATEPASS_HOST
  value: "0.0.0.0"
- name: GATEPASS_PORT
  value: "8400"
- name: GATEPASS_MASTER_KEY
  value: {{ range $index, $key := .Values.masterKey.keys }}{{ if $index }},{{ end }}file:/run/secrets/gatepass-master-key/{{ $key }}{{ end }}
{{- if .Values.persistence.enabled }}
- name: GATEPASS_DATABASE_URL
  value: file:/data/gatepass.db
{{- else }}
- name: GATEPASS_DATABASE_URL_FILE
  value: /run/secrets/gatepass-database/{{ .Values.database.key }}
{{- end }}
{{- if .Values.apiKey.existingSecret }}
- name: GATEPASS_API_KEY_FILE
  value: /run/secrets/gatepass-api-key/{{ .Values.apiKey.key }}
{{- end }}
- name: GATEPASS_DASHBOARD
  value: {{ ternary "on" "off" .Values.dashboard.enabled | quote }}
{{- with .Values.dashboard.issuer }}
- name: GATEPASS_DASHBOARD_ISSUER
  value: {{ . | quote }}
- name: GATEPASS_DASHBOARD_CLIENT_ID
  value: {{ $.Values.dashboard.clientId | quote }}
- name: GATEPASS_DASHBOARD_ROLES
  value: {{ $.Values.dashboard.roles | quote }}
{{- if $.Values.dashboard.clientSecret.existingSecret }}
- name: GATEPASS_DASHBOARD_CLIENT_SECRET_FILE
  value: /run/secrets/gatepass-dashboard/{{ $.Values.dashboard.clientSecret.key }}
{{- end }}
{{- end }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "gatepass.volumeMounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: data, mountPath: /data}
- {name: master-key, mountPath: /run/secrets/gatepass-master-key, readOnly: true}
{{- if not .Values.persistence.enabled }}
- {name: database, mountPath: /run/secrets/gatepass-database, readOnly: true}
{{- end }}
{{- if .Values.apiKey.existingSecret }}
- {name: api-key, mountPath: /run/secrets/gatepass-api-key, readOnly: true}
{{- end }}
{{- if .Values.dashboard.clientSecret.existingSecret }}
- {name: dashboard, mountPath: /run/secrets/gatepass-dashboard, readOnly: true}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "gatepass.volumes" -}}
- name: tmp
  emptyDir: {}
- name: data
{{- if .Values.persistence.enabled }}
  persistentVolumeClaim: {claimName: {{ .Values.persistence.existingClaim | default (include "gatepass.fullname" .) }}}
{{- else }}
  emptyDir: {}
{{- end }}
- name: master-key
  secret: {secretName: {{ .Values.masterKey.existingSecret }}, defaultMode: 0440}
{{- if not .Values.persistence.enabled }}
- name: database
  secret: {secretName: {{ .Values.database.existingSecret }}, defaultMode: 0440}
{{- end }}
{{- if .Values.apiKey.existingSecret }}
- name: api-key
  secret: {secretName: {{ .Values.apiKey.existingSecret }}, defaultMode: 0440}
{{- end }}
{{- if .Values.dashboard.clientSecret.existingSecret }}
- name: dashboard
  secret: {secretName: {{ .Values.dashboard.clientSecret.existingSecret }}, defaultMode: 0440}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* A job's container: one command of Gatepass on the database. */}}
{{- define "gatepass.jobPod" -}}
restartPolicy: Never
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
containers:
  - name: gatepass
    image: {{ include "gatepass.image" . }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args: {{ toJson .args }}
    env:
      {{- include "gatepass.env" . | nindent 6 }}
    {{- with .Values.extraEnvFrom }}
    envFrom:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    securityContext:
      {{- toYaml .Values.securityContext | nindent 6 }}
    resources:
      {{- toYaml .Values.resources | nindent 6 }}
    volumeMounts:
      {{- include "gatepass.volumeMounts" . | nindent 6 }}
volumes:
  {{- include "gatepass.volumes" . | nindent 2 }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
