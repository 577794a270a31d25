CREATE TABLE "chains" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"state" text NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "executions" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"user_id" text,
	"tool_id" text NOT NULL,
	"type" text NOT NULL,
	"entry_point" text NOT NULL,
	"status" text NOT NULL,
	"outcome" text,
	"error_kind" text,
	"api_key_id" text,
	"run_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"started_at" bigint,
	"finished_at" bigint,
	"duration_ms" bigint,
	"attempts" integer NOT NULL,
	"request" text,
	"result" text,
	"lease_owner" text,
	"lease_until" bigint
);
--> statement-breakpoint
CREATE TABLE "policies" (
	"uid" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"id" text NOT NULL,
	"description" text,
	"enabled" boolean NOT NULL,
	"effect" text NOT NULL,
	"matches" text NOT NULL,
	"hook" text,
	"hook_secret" text,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "tools" ADD COLUMN "tags" text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE "tools" ADD COLUMN "annotations" text;--> statement-breakpoint
ALTER TABLE "tools" ADD COLUMN "meta" text;--> statement-breakpoint
ALTER TABLE "tools" ADD COLUMN "icons" text;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "settings" text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "chains" ADD CONSTRAINT "chains_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "executions" ADD CONSTRAINT "executions_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "policies" ADD CONSTRAINT "policies_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "chains_expiry" ON "chains" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "executions_project" ON "executions" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "executions_user" ON "executions" USING btree ("project_id","user_id","id");--> statement-breakpoint
CREATE INDEX "executions_tool" ON "executions" USING btree ("project_id","tool_id","id");--> statement-breakpoint
CREATE INDEX "executions_put_off" ON "executions" USING btree ("project_id","id") WHERE type = 'scheduled';--> statement-breakpoint
CREATE INDEX "executions_due" ON "executions" USING btree ("run_at") WHERE status = 'scheduled';--> statement-breakpoint
CREATE INDEX "executions_lease" ON "executions" USING btree ("lease_until") WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "executions_end" ON "executions" USING btree ("finished_at");--> statement-breakpoint
CREATE UNIQUE INDEX "policies_id" ON "policies" USING btree ("project_id","id");