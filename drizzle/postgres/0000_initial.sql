CREATE TABLE "api_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"hash" text NOT NULL,
	"created_at" bigint NOT NULL,
	"last_used_at" bigint,
	"revoked_at" bigint,
	CONSTRAINT "api_keys_hash" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "audit_blocks" (
	"project_id" text NOT NULL,
	"first_seq" bigint NOT NULL,
	"count" integer NOT NULL,
	"at" bigint NOT NULL,
	"text" text NOT NULL,
	"previous" text NOT NULL,
	"hash" text NOT NULL,
	CONSTRAINT "audit_blocks_project_id_first_seq_pk" PRIMARY KEY("project_id","first_seq")
);
--> statement-breakpoint
CREATE TABLE "audit_heads" (
	"project_id" text PRIMARY KEY NOT NULL,
	"last_seq" bigint NOT NULL,
	"hash" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "authorizations" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"user_id" text NOT NULL,
	"status" text NOT NULL,
	"share_key" text,
	"steps" text NOT NULL,
	"step" integer NOT NULL,
	"requester" text,
	"account" text,
	"next_uri" text,
	"state_hash" text,
	"browser_hash" text,
	"secrets" text,
	"started_at" bigint,
	"flow_hash" text,
	"response" text,
	"deadline" bigint,
	"reason" text,
	"message" text,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"completed_at" bigint,
	CONSTRAINT "authorizations_share_key" UNIQUE("share_key"),
	CONSTRAINT "authorizations_state_hash" UNIQUE("state_hash"),
	CONSTRAINT "authorizations_flow_hash" UNIQUE("flow_hash")
);
--> statement-breakpoint
CREATE TABLE "connections" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"provider_uid" text NOT NULL,
	"user_id" text NOT NULL,
	"account_id" text NOT NULL,
	"account_name" text NOT NULL,
	"scopes" text NOT NULL,
	"status" text NOT NULL,
	"status_reason" text,
	"token_type" text NOT NULL,
	"received_at" bigint NOT NULL,
	"expires_at" bigint,
	"access" text NOT NULL,
	"refresh" text,
	"provider_identity" text NOT NULL,
	"is_default" boolean NOT NULL,
	"generation" integer NOT NULL,
	"lease_owner" text,
	"lease_until" bigint,
	"unanswered_refreshes" integer DEFAULT 0 NOT NULL,
	"created_at" bigint NOT NULL,
	"last_used_at" bigint
);
--> statement-breakpoint
CREATE TABLE "facts" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "projects_name" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "providers" (
	"uid" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"id" text NOT NULL,
	"name" text NOT NULL,
	"well_known_id" text,
	"description" text,
	"external_id" text,
	"status" text NOT NULL,
	"source" text NOT NULL,
	"provider" text NOT NULL,
	"client_id" text,
	"client_secret" text,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "secrets" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"key" text NOT NULL,
	"description" text,
	"value" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"last_accessed_at" bigint
);
--> statement-breakpoint
CREATE TABLE "tool_aliases" (
	"project_id" text NOT NULL,
	"alias" text NOT NULL,
	"tool_uid" text NOT NULL,
	CONSTRAINT "tool_aliases_project_id_alias_tool_uid_pk" PRIMARY KEY("project_id","alias","tool_uid")
);
--> statement-breakpoint
CREATE TABLE "tools" (
	"uid" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"namespace" text NOT NULL,
	"name" text NOT NULL,
	"version" text NOT NULL,
	"title" text NOT NULL,
	"description" text NOT NULL,
	"input_schema" text NOT NULL,
	"output_schema" text,
	"requirements" text NOT NULL,
	"source" text NOT NULL,
	"worker_uid" text,
	"binding" text,
	"digest" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"uid" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"id" text NOT NULL,
	"type" text NOT NULL,
	"enabled" boolean NOT NULL,
	"uri" text NOT NULL,
	"secret" text NOT NULL,
	"timeout_seconds" integer NOT NULL,
	"retry" integer NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"synced_at" bigint,
	"sync_error" text
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "authorizations" ADD CONSTRAINT "authorizations_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connections" ADD CONSTRAINT "connections_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connections" ADD CONSTRAINT "connections_provider_uid_providers_uid_fk" FOREIGN KEY ("provider_uid") REFERENCES "public"."providers"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "providers" ADD CONSTRAINT "providers_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tool_aliases" ADD CONSTRAINT "tool_aliases_tool_uid_tools_uid_fk" FOREIGN KEY ("tool_uid") REFERENCES "public"."tools"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tools" ADD CONSTRAINT "tools_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workers" ADD CONSTRAINT "workers_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_keys_project" ON "api_keys" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "audit_blocks_at" ON "audit_blocks" USING btree ("project_id","at");--> statement-breakpoint
CREATE INDEX "authorizations_expiry" ON "authorizations" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "connections_account" ON "connections" USING btree ("project_id","provider_uid","user_id","account_id");--> statement-breakpoint
CREATE UNIQUE INDEX "connections_default" ON "connections" USING btree ("project_id","provider_uid","user_id") WHERE is_default;--> statement-breakpoint
CREATE INDEX "connections_user" ON "connections" USING btree ("project_id","user_id");--> statement-breakpoint
CREATE INDEX "connections_provider" ON "connections" USING btree ("provider_uid");--> statement-breakpoint
CREATE INDEX "connections_expiry" ON "connections" USING btree ("expires_at") WHERE status = 'active' and refresh is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "providers_id" ON "providers" USING btree ("project_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "secrets_key" ON "secrets" USING btree ("project_id",lower(key));--> statement-breakpoint
CREATE INDEX "tool_aliases_tool" ON "tool_aliases" USING btree ("tool_uid");--> statement-breakpoint
CREATE UNIQUE INDEX "tools_identity" ON "tools" USING btree ("project_id","namespace","name","version");--> statement-breakpoint
CREATE INDEX "tools_worker" ON "tools" USING btree ("worker_uid");--> statement-breakpoint
CREATE UNIQUE INDEX "workers_id" ON "workers" USING btree ("project_id","id");