CREATE TABLE "connection_tools" (
	"project_id" text NOT NULL,
	"user_id" text NOT NULL,
	"connection_id" text NOT NULL,
	"tool" text NOT NULL,
	"last_used_at" bigint NOT NULL,
	CONSTRAINT "connection_tools_project_id_user_id_connection_id_tool_pk" PRIMARY KEY("project_id","user_id","connection_id","tool")
);
--> statement-breakpoint
CREATE TABLE "portal_tickets" (
	"hash" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"user_id" text NOT NULL,
	"user_display" text,
	"may" text DEFAULT '[]' NOT NULL,
	"return_url" text,
	"lang" text,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "connection_tools" ADD CONSTRAINT "connection_tools_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "portal_tickets" ADD CONSTRAINT "portal_tickets_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "connection_tools_last_use" ON "connection_tools" USING btree ("last_used_at");--> statement-breakpoint
CREATE INDEX "portal_tickets_expiry" ON "portal_tickets" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "authorizations_of_user" ON "authorizations" USING btree ("user_id","project_id","id");