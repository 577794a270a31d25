CREATE TABLE "connect_sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"user_id" text NOT NULL,
	"token_hash" text NOT NULL,
	"authorization_id" text NOT NULL,
	"origin" text NOT NULL,
	"opener_hash" text,
	"opened_in" text,
	"restarts" integer NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	CONSTRAINT "connect_sessions_token_hash" UNIQUE("token_hash")
);
--> statement-breakpoint
ALTER TABLE "authorizations" ADD COLUMN "connect_session_id" text;--> statement-breakpoint
ALTER TABLE "connect_sessions" ADD CONSTRAINT "connect_sessions_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "connect_sessions_expiry" ON "connect_sessions" USING btree ("expires_at");